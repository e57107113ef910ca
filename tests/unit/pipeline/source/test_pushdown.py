"""What filters spare the reading of."""

from __future__ import annotations

from datetime import UTC, datetime

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

from logquake.pipeline.source.planning import OffsetRange
from logquake.pipeline.source.pushdown import Wanted, pushed

ALL = [OffsetRange(topic, partition, 10, 20) for topic in ("a", "b") for partition in range(3)]


def narrowed(*filters: Filter) -> list[OffsetRange]:
    wanted, left = pushed(filters)
    assert left == []
    return list(wanted.narrowed(ALL))


def test_topics_and_partitions_that_nobody_asks_for_are_not_read() -> None:
    assert narrowed(EqualTo(("topic",), "b"), In(("partition",), (0, 2))) == [ALL[3], ALL[5]]
    assert narrowed(EqualTo(("partition",), 1), EqualTo(("partition",), 2)) == []
    assert narrowed(IsNotNull(("offset",))) == ALL


def test_offsets_are_read_between_their_bounds() -> None:
    between = narrowed(GreaterThan(("offset",), 12), LessThanOrEqual(("offset",), 15))
    assert between == [OffsetRange(one.topic, one.partition, 13, 16) for one in ALL]
    at_once = narrowed(GreaterThanOrEqual(("offset",), 19), LessThan(("offset",), 30))
    assert {(one.start, one.end) for one in at_once} == {(19, 20)}
    assert narrowed(EqualTo(("offset",), 20)) == []


def test_a_time_bounds_from_below_and_spark_looks_again() -> None:
    later = GreaterThan(("timestamp",), datetime(2026, 1, 1, tzinfo=UTC))
    earlier = LessThan(("timestamp",), datetime(2027, 1, 1, tzinfo=UTC))
    wanted, left = pushed([later, earlier])
    assert wanted == Wanted(since_ms=1_767_225_600_000)
    assert left == [later, earlier]


def test_what_cannot_be_spared_is_left_to_spark() -> None:
    filters = [EqualTo(("key",), b"k"), Not(EqualTo(("partition",), 1)), IsNotNull(("value",))]
    assert pushed(filters) == (Wanted(), filters)
