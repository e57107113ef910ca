"""JSON to what a method takes, by its annotations.

A list serves wherever a method takes several of something; ``*groups`` are a list named groups.
A Fault is told by its id.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from inspect import Parameter
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Union, Unpack, get_args, get_origin, get_type_hints

from logquake.cluster.running.fault import Fault

FaultOf = Callable[[int], Fault]

_SCALARS: Mapping[Any, tuple[type, ...]] = {
    int: (int,),
    float: (int, float),
    str: (str,),
    bool: (bool,),
    NoneType: (NoneType,),
}
_COLLECTIONS = (Collection, Iterable, Sequence, Set, list, set, frozenset, tuple)


class ArgumentError(Exception):
    """What was sent is not what the method takes, in one line."""


class Arguments:
    """Of a method of a cluster. Raises NameError where its annotations can't be resolved."""

    def __init__(self, method: Callable[..., object]) -> None:
        hints = _hints_of_parameters(method)
        self._parameters = {
            each.name: each
            for name, parameter in inspect.signature(method).parameters.items()
            if name != "self"
            for each in _spread(parameter.replace(annotation=hints.get(name, Any)))
        }

    @property
    def can_be_sent(self) -> bool:
        """Whether JSON can have all of them: a function it can't."""
        return all(_is_known(each.annotation) for each in self._parameters.values())

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def described(self) -> dict[str, str]:
        """What each takes, and its default."""
        return {name: _described(each) for name, each in self._parameters.items()}

    def bound(self, sent: Mapping[str, Any], fault_of: FaultOf) -> tuple[list[Any], dict[str, Any]]:
        """Positional and named ones, to call the method with. Raises ArgumentError."""
        unknown = sent.keys() - self._parameters.keys()
        if unknown:
            raise ArgumentError(f"no argument {min(unknown)!r}: there are {self._listed()}")
        several: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in self._parameters.items():
            if name not in sent:
                if parameter.kind is not Parameter.VAR_POSITIONAL and _is_needed(parameter):
                    raise ArgumentError(f"{name} is missing: there are {self._listed()}")
            elif parameter.kind is Parameter.VAR_POSITIONAL:
                if not isinstance(sent[name], list):
                    raise ArgumentError(f"{name} is a list")
                several = [self._read(name, one, fault_of) for one in sent[name]]
            else:
                named[name] = self._read(name, sent[name], fault_of)
        return several, named

    def _read(self, name: str, value: Any, fault_of: FaultOf) -> Any:
        hint = self._parameters[name].annotation
        if hint is Fault and _fits(value, int):
            return fault_of(value)
        if not _fits(value, hint):
            raise ArgumentError(f"{name}={value!r}: it takes {_described(self._parameters[name])}")
        return tuple(value) if get_origin(hint) is tuple else value

    def _listed(self) -> str:
        return ", ".join(self._parameters) or "none"


def _spread(parameter: Parameter) -> list[Parameter]:
    """``**until: Unpack[Until]`` is as many as Until has keys, none of them needed."""
    if get_origin(parameter.annotation) is not Unpack:
        return [parameter]
    (keys,) = get_args(parameter.annotation)
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=hint)
        for name, hint in get_type_hints(keys).items()
    ]


def _hints_of_parameters(method: Callable[..., object]) -> dict[str, Any]:
    """What it returns may be of a type that is only imported for type checkers."""
    function: Any = inspect.unwrap(method)
    annotations = {
        name: hint for name, hint in function.__annotations__.items() if name != "return"
    }
    return get_type_hints(SimpleNamespace(__annotations__=annotations), function.__globals__)


def _is_needed(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty


def _described(parameter: Parameter) -> str:
    hint = parameter.annotation
    told = "the id of a fault" if hint is Fault else inspect.formatannotation(hint)
    if parameter.kind is Parameter.VAR_POSITIONAL:
        return f"a list of {told}"
    return told if _is_needed(parameter) else f"{told} = {parameter.default!r}"


def _is_known(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return all(map(_is_known, get_args(hint)))
    return hint in (*_SCALARS, Fault, Any, object) or origin in (*_COLLECTIONS, Mapping, dict)


def _fits(value: Any, hint: Any) -> bool:
    """Whether JSON's value is one of the hint's; what is in a collection is looked at too."""
    origin = get_origin(hint)
    if hint in (Any, object):
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in get_args(hint))
    if origin in (Mapping, dict):
        _, of_values = get_args(hint)
        return isinstance(value, dict) and all(_fits(each, of_values) for each in value.values())
    if origin in _COLLECTIONS:
        return isinstance(value, list) and all(_fits(each, get_args(hint)[0]) for each in value)
    if isinstance(value, bool):  # which Python takes for a number
        return hint is bool
    return isinstance(value, _SCALARS.get(hint, ()))
