"""Checks the arguments of a call against its signature, before the call begins.

Java's compiler does that for callers of Kafka's clients. One rule serves all calls of the admin
client: a value that no request can contain is refused, with an error that names the argument, and
the item and field in it. Without it `"q"` would pass as a list of names, one for each letter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, wraps
from inspect import signature
from numbers import Real
from operator import index
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from logquake.client.arguments import check_text

P = ParamSpec("P")
T = TypeVar("T")

_SECRET = frozenset({"hmac", "password", "salt"})  # arguments and fields that errors must not show


def held_to_its_signature(method: Callable[P, T]) -> Callable[P, T]:
    """The method raises ValueError for a string instead of several items, or one that cannot be
    encoded, and TypeError for any other argument that its signature does not allow.
    """
    takes = signature(method)

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        given = takes.bind(*args, **kwargs)
        hints = _hints(method)
        for name, value in given.arguments.items():
            if name in hints:
                held = _to_be_looked_at_twice(value)
                _check(held, hints[name], name)
                given.arguments[name] = held
        return method(*given.args, **given.kwargs)

    return call


def _to_be_looked_at_twice(value: object) -> object:
    is_passing = isinstance(value, Iterable) and not isinstance(value, Collection)
    return list(value) if is_passing else value  # type: ignore[call-overload]


@cache
def _hints(of: Callable[..., object]) -> Mapping[str, Any]:
    return get_type_hints(of)


def _check(value: object, kind: Any, what: str) -> None:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        _check_one_of(value, get_args(kind), what)
    elif origin is None:
        _check_single(value, kind, what)
    elif issubclass(origin, Mapping):
        _check_mapping(value, get_args(kind), what)
    elif issubclass(origin, Iterable):
        _check_several(value, get_args(kind)[0], what)


def _check_one_of(value: object, kinds: tuple[Any, ...], what: str) -> None:
    if value is None and NoneType in kinds:
        return
    left = [kind for kind in kinds if kind is not NoneType]
    of_its_class = [kind for kind in left if get_origin(kind) is None and isinstance(value, kind)]
    if not of_its_class and len(left) > 1:
        raise _wrong(value, " or ".join(kind.__name__ for kind in left), what)
    _check(value, (of_its_class or left)[0], what)


def _check_mapping(value: object, kinds: tuple[Any, ...], what: str) -> None:
    of_keys, of_values = kinds
    if not isinstance(value, Mapping):
        raise _wrong(value, f"mapping of {_words(of_keys)} to {_words(of_values)}", what)
    for key, each in value.items():
        _check(key, of_keys, f"a key of {what}")
        _check(each, of_values, f"{what}[{key!r:.100}]")


def _check_several(value: object, of_each: Any, what: str) -> None:
    if isinstance(value, str):
        raise ValueError(f"{what} is to be a list of {_words(of_each)}, and not {value!r:.100}")
    if isinstance(value, bytes | bytearray | memoryview) or not isinstance(value, Collection):
        raise _wrong(value, f"list of {_words(of_each)}", what)
    for place, each in enumerate(value):
        _check(each, of_each, f"{what}[{place}]")


def _check_single(value: object, kind: type, what: str) -> None:
    if kind is str:
        check_text(value, what, is_secret=what.rpartition(".")[2] in _SECRET)
    elif not (isinstance(value, kind) or _is_number(value, kind)):
        raise _wrong(value, kind.__name__, what)
    else:
        for name in _fields(kind):
            _check(getattr(value, name), _hints(kind)[name], f"{what}.{name}")


def _is_number(value: object, kind: type) -> bool:
    """A number of another class, such as a numpy integer."""
    if kind is float:
        return isinstance(value, Real)
    try:
        return kind is int and index(value) is not None  # type: ignore[arg-type]
    except TypeError:
        return False


def _fields(kind: type) -> Iterable[str]:
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    names: Iterable[str] = getattr(kind, "_fields", ())
    return names


def _wrong(value: object, kind: str, what: str) -> TypeError:
    shown = "what was given" if what.rpartition(".")[2] in _SECRET else f"{value!r:.100}"
    return TypeError(f"{what}: {shown} is no {kind}")


def _words(kind: Any) -> str:
    origin, args = get_origin(kind), get_args(kind)
    if kind is str:
        return "names"
    if origin in (Union, UnionType):
        return " or ".join(_words(each) for each in args if each is not NoneType)
    if origin is not None:
        return f"lists of {_words(args[0])}"
    return str(kind.__name__)
