"""Options by name and their values: flags, numbers, times, names, offsets by partition."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")

_MS_OF_UNIT = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d+)\s*(ms|s|min|m|h|d)?")


class OptionError(ValueError):
    """An option that is missing, unknown or not understood."""


def by_known_name(options: Mapping[str, str], known_names: Iterable[str]) -> dict[str, str]:
    """Spark's options know no case: give them back the names they are documented by."""
    known = {name.lower(): name for name in known_names}
    unknown = sorted(name for name in options if name.lower() not in known)
    if unknown:
        raise OptionError(f"unknown options: {', '.join(unknown)}")
    return {known[name.lower()]: value for name, value in options.items()}


def positions(name: str, text: str) -> dict[TopicPartition, int]:
    """`{"topic": {"0": 23, "1": -2}}` by topic and partition."""
    try:
        parsed = json.loads(text)
        return {
            TopicPartition(topic, int(partition)): int(position)
            for topic, partitions in parsed.items()
            for partition, position in partitions.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise OptionError(f'{name} is not JSON like {{"topic": {{"0": 23}}}}: {text}') from error


def assigned(text: str) -> dict[str, tuple[int, ...]]:
    try:
        parsed = json.loads(text)
        return {topic: tuple(map(int, indexes)) for topic, indexes in parsed.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise OptionError(f'assign is not JSON like {{"topic": [0, 1]}}: {text}') from error


def path_of(given: Mapping[str, str], what: str) -> Path:
    """What ``load()`` was handed."""
    if "path" not in given:
        raise OptionError(f"a path is needed: {what}")
    return Path(given["path"])


def names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise OptionError("subscribe names no topic")
    return names


def pattern(given: Mapping[str, str], name: str) -> str | None:
    """A regular expression of Python's."""
    text = given.get(name)
    try:
        return text if text is None else re.compile(text).pattern
    except re.error as error:
        raise OptionError(f"{name} is not a regular expression: {text}: {error}") from error


def flag(given: Mapping[str, str], name: str, *, default: bool) -> bool:
    return choice(given, name, {"true": True, "false": False}, default=default)


def choice(given: Mapping[str, str], name: str, meanings: Mapping[str, T], *, default: T) -> T:
    text = given.get(name)
    if text is None:
        return default
    meaning = meanings.get(text.strip().lower())
    if meaning is None:
        raise OptionError(f"{name}: {text!r} is none of {', '.join(meanings)}")
    return meaning


def number(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not text.strip().isdecimal():
        raise OptionError(f"{name} is not a number: {text}")
    return int(text)


def duration_ms(given: Mapping[str, str], name: str, default: int) -> int:
    """As Spark writes it: `15m`, `500ms`; a bare number is milliseconds."""
    text = given.get(name)
    if text is None:
        return default
    parsed = _DURATION.fullmatch(text.strip().lower())
    if parsed is None:
        raise OptionError(f"{name} is not a time like 15m or 500ms: {text}")
    return int(parsed[1]) * _MS_OF_UNIT[parsed[2] or "ms"]
