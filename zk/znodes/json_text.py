"""JSON as Kafka's Jackson writes it (no spaces, UTF-8 unescaped), and a reader with one error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


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
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedZnode(f"{error!r} in {data[:200]!r}") from error
