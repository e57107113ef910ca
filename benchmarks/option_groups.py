"""Options that go together, as one parameter of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of each dataclass that it takes in that one's place.

    Typer reads the options from the signature; what a field's type and default say of an option
    is what a parameter's would.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)
    }
    parameters = [
        each
        for one in inspect.signature(command).parameters.values()
        for each in (_fields_of(groups[one.name]) if one.name in groups else [_typed(one, hints)])
    ]

    @wraps(command)
    def with_groups(**given: Any) -> None:
        for name, group in groups.items():
            options = {field.name for field in fields(group)} & given.keys()
            given[name] = group(**{option: given.pop(option) for option in options})
        command(**given)

    vars(with_groups)["__signature__"] = inspect.Signature(parameters)
    with_groups.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_groups


def _typed(parameter: inspect.Parameter, hints: dict[str, Any]) -> inspect.Parameter:
    return parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)


def _fields_of(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)

    def parameter(field: Field[Any]) -> inspect.Parameter:
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        return inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=hints[field.name],
        )

    return [parameter(field) for field in fields(group)]
