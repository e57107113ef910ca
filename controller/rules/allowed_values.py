"""Which values a key takes, as a table of keys says it, and Kafka's words for the others.

``14..``               a number of at least 14
``1..17``              a number between
``1..9 or -1``         the levels of gzip; ``-1 or 1..`` those of a pool of threads
``of a, b``            one of these, and of a list each; ``in any case A, B`` as it says
``non-empty``          some text
``replicas``           partition:broker pairs, or ``*``
``release``            a release of Kafka's, or one of its internal versions
Nothing: any value of the type.
"""

from __future__ import annotations

import re

from logquake.controller.rules.config_def import Check, InvalidValue, Value, shown
from logquake.controller.rules.message_format import is_version

_RANGE = re.compile(r"(-?[\d.]+?)\.\.(-?[\d.]+)?")
_GZIP_LEVELS = "1..9 or -1"
_POOL_SIZE = "-1 or 1.."
_PAIR = re.compile(r"(\d+:\d+)?")


def check_of(allowed: str) -> Check:
    """Raises ValueError for a word that is not known."""
    found = _RANGE.fullmatch(allowed)
    if found:
        return _between(*found.groups())
    kind, _, words = allowed.partition(" ")
    if kind == "of":
        return _one_of(words.split(", "))
    if allowed.startswith("in any case "):
        return _one_of_in_any_case(allowed.removeprefix("in any case ").split(", "))
    return _BY_NAME[allowed]


def _between(least: str, most: str | None) -> Check:
    lower, upper = float(least), None if most is None else float(most)

    def check(name: str, value: Value) -> None:
        number = _number(value)
        if number < lower:
            raise InvalidValue.of(name, value, f"Value must be at least {least}")
        if upper is not None and number > upper:
            raise InvalidValue.of(name, value, f"Value must be no more than {most}")

    return check


def _number(value: Value) -> float:
    if isinstance(value, int | float):
        return value
    raise TypeError(f"a range is for numbers, not for {value!r}")


def _one_of(words: list[str]) -> Check:
    def check(name: str, value: Value) -> None:
        for one in value if isinstance(value, list) else [shown(value)]:
            if one not in words:
                raise InvalidValue.of(name, one, f"String must be one of: {', '.join(words)}")

    return check


def _one_of_in_any_case(words: list[str]) -> Check:
    def check(name: str, value: Value) -> None:
        if shown(value).upper() not in words:
            reason = f"String must be one of (case insensitive): {', '.join(words)}"
            raise InvalidValue.of(name, value, reason)

    return check


def _any(_name: str, _value: Value) -> None:
    """Whatever the type takes."""


def _gzip_level(name: str, value: Value) -> None:
    """CompressionType.GZIP: 0, no compression at all, is not a level."""
    if value != -1 and not 1 <= _number(value) <= 9:
        raise InvalidValue.of(name, value, "Value must be between 1 and 9 or equal to -1")


def _pool_size(name: str, value: Value) -> None:
    """RemoteLogManagerConfig: -1 takes another key's value."""
    if value != -1 and _number(value) < 1:
        raise InvalidValue.of(name, value, "Value can be -1 or greater than 0")


def _non_empty(name: str, value: Value) -> None:
    if not value:
        raise InvalidValue.of(name, value, "String must be non-empty")


def _throttled_replicas(name: str, value: Value) -> None:
    """ThrottledReplicaListValidator."""
    pairs = value if isinstance(value, list) else [shown(value)]
    if "".join(pairs) == "*" or all(map(_PAIR.fullmatch, pairs)):
        return
    raise InvalidValue.of(
        name,
        f"[{', '.join(pairs)}]",
        f"{name} must be the literal '*' or a list of replicas in the following "
        "format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
    )


def _release(name: str, value: Value) -> None:
    if not is_version(shown(value)):
        raise InvalidValue.of(name, value, f"Version {value} is not a valid version")


_BY_NAME: dict[str, Check] = {
    "": _any,
    _GZIP_LEVELS: _gzip_level,
    _POOL_SIZE: _pool_size,
    "non-empty": _non_empty,
    "replicas": _throttled_replicas,
    "release": _release,
}
