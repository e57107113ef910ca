"""Filters of a query that need not be read for: by topic, partition, offset and time, pure.

Of times the lower bound alone: behind a record that is too late there may be earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from logquake.pipeline.source.planning import OffsetRange

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEVER_NULL = frozenset({"topic", "partition", "offset", "timestamp"})
_FAR = 1 << 63


@dataclass(frozen=True, slots=True)
class Wanted:
    """``first`` <= offset < ``end``; ``since_ms`` a time before which nothing is asked for."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    first: int = 0
    end: int = _FAR
    since_ms: int | None = None

    def narrowed(self, ranges: Iterable[OffsetRange]) -> Iterator[OffsetRange]:
        """What of these is asked for, none of it empty."""
        for whole in ranges:
            if self.topics is not None and whole.topic not in self.topics:
                continue
            if self.partitions is not None and whole.partition not in self.partitions:
                continue
            start, end = max(whole.start, self.first), min(whole.end, self.end)
            if start < end:
                yield replace(whole, start=start, end=end)


def pushed(filters: Sequence[Filter]) -> tuple[Wanted, list[Filter]]:
    """What they ask for, and those of them that Spark has to look at itself."""
    wanted, left = Wanted(), []
    for one in filters:
        narrower = _narrower(wanted, one)
        if narrower is None:
            left.append(one)
            continue
        wanted = narrower
        if _column(one) == "timestamp" and not isinstance(one, IsNotNull):
            left.append(one)  # some of what is read from that time on is earlier
    return wanted, left


def _narrower(wanted: Wanted, one: Filter) -> Wanted | None:
    """None where nothing is to be had of it."""
    column = _column(one)
    match one:
        case IsNotNull() if column in _NEVER_NULL:
            return wanted
        case EqualTo(value=value) | In(value=value) if column == "topic":
            return replace(wanted, topics=_both(wanted.topics, _values(one, value)))
        case EqualTo(value=value) | In(value=value) if column == "partition":
            return replace(wanted, partitions=_both(wanted.partitions, _values(one, value)))
        case EqualTo(value=int(at)) if column == "offset":
            return _between(wanted, at, at + 1)
        case GreaterThan(value=int(at)) if column == "offset":
            return _between(wanted, at + 1, _FAR)
        case GreaterThanOrEqual(value=int(at)) if column == "offset":
            return _between(wanted, at, _FAR)
        case LessThan(value=int(at)) if column == "offset":
            return _between(wanted, 0, at)
        case LessThanOrEqual(value=int(at)) if column == "offset":
            return _between(wanted, 0, at + 1)
        case (
            EqualTo(value=datetime() as at)
            | GreaterThan(value=datetime() as at)
            | GreaterThanOrEqual(value=datetime() as at)
        ) if column == "timestamp":
            since_ms = int(at.timestamp() * 1000)
            return replace(wanted, since_ms=max(wanted.since_ms or 0, since_ms))
    return None


def _column(one: Filter) -> str:
    path: tuple[str, ...] = getattr(one, "attribute", ())
    return ".".join(path)


def _values(one: Filter, value: Any) -> frozenset[Any]:
    return frozenset(value) if isinstance(one, In) else frozenset({value})


def _both(known: frozenset[Any] | None, more: frozenset[Any]) -> frozenset[Any]:
    return more if known is None else known & more


def _between(wanted: Wanted, first: int, end: int) -> Wanted:
    return replace(wanted, first=max(wanted.first, first), end=min(wanted.end, end))
