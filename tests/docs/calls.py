"""What the code says of an admin client's calls, in the words of docs/clients.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any, NamedTuple

from logquake.client.admin.administering import Administering
from logquake.client.admin.calls.calling import Calling
from logquake.client.sync.admin import Admin

_PROMISE = re.compile(r"Promise\[(.*)\]")
_OF_EACH_CALL = "timeout_ms"


class AdminCall(NamedTuple):
    name: str
    takes: str  # arguments with their types
    options: str  # keywords
    gives: str  # each value of a dict is a future's result


def calls() -> Iterator[AdminCall]:
    """In the order in which an admin client has them."""
    begun = {name for each in Calling.__subclasses__() for name in vars(each)}
    for name in vars(Admin):
        if name in begun and not name.startswith("_"):
            yield _call(name, getattr(Administering, name))


def _call(name: str, method: Callable[..., Any]) -> AdminCall:
    told = signature(method)
    _, *parameters = told.parameters.values()
    takes = [each for each in parameters if each.kind is not Parameter.KEYWORD_ONLY]
    options = [each.name for each in parameters if each.kind is Parameter.KEYWORD_ONLY]
    return AdminCall(
        name,
        ", ".join(f"{each.name}: {each.annotation}" for each in takes),
        ", ".join(option for option in options if option != _OF_EACH_CALL),
        _PROMISE.sub(r"\1", told.return_annotation),
    )
