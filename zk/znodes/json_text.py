"""JSON as Kafka's Jackson writes it (no spaces, UTF-8 unescaped), and a reader with one error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

_SHOWN = 200  # of an error and of the data, in a message
_LONGEST_TEXT = (1 << 15) - 1  # bytes, of a string on Kafka's wire


class MalformedZnode(ValueError):  # noqa: N818 - the data is at fault, not the program
    """A znode whose data is not what Kafka would write."""


def dump_json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def read_json(data: bytes, build: Callable[[dict[str, Any]], T]) -> T:
    """What ``build`` makes of the object in ``data``. Raises MalformedZnode."""
    try:
        value = json.loads(data)
        if not isinstance(value, dict):
            raise TypeError("not an object")
        return build(value)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = repr(error)[:_SHOWN]  # some quote all of the data
        raise MalformedZnode(f"{why} in {data[:_SHOWN]!r}") from error


def int32(value: object) -> int:
    """A number where Kafka reads an Int: no text, no fraction, nothing that a request can't carry.

    Raises ValueError.
    """
    if type(value) is not int or not -(1 << 31) <= value < 1 << 31:
        raise ValueError(f"not an int32: {value!r}")
    return value


def int32s(value: object) -> tuple[int, ...]:
    """The same for a list. Raises ValueError."""
    if not isinstance(value, list):
        raise ValueError(f"not a list: {value!r}")
    return tuple(map(int32, value))


def text(value: object) -> str:
    """Text that a request can carry. Raises ValueError."""
    if not isinstance(value, str) or len(value.encode()) > _LONGEST_TEXT:
        raise ValueError(f"not a text, or too long: {value!r}")
    return value
