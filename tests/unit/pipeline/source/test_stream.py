"""What a stream's reader plans, batch by batch, as Spark asks for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from logquake.client.errors import TimedOutError
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.source.admission import DataLossError
from logquake.pipeline.source.planning import OffsetRange
from logquake.wire.topic_partition import TopicPartition

pytest.importorskip("pyspark", reason="the extra logquake[spark] is not installed")

from pyspark.sql.streaming.datasource import ReadAllAvailable

from logquake.pipeline.source import stream as module
from logquake.pipeline.source.stream import LogquakeStreamReader

GIVEN = {"kafka.bootstrap.servers": "localhost:1", "subscribePattern": ".*"}
ORDERS, BILLS = TopicPartition("orders", 0), TopicPartition("bills", 0)


class Told(NamedTuple):
    partition: int


@dataclass
class Cluster:
    """Where each log begins and ends; it grows with each look at its ends by ``grows``."""

    logs: dict[TopicPartition, tuple[int, int]]
    grows: int = 0
    config: Any = field(default=None)

    def list_topics(self) -> dict[str, list[Told]]:
        return {place.topic: [Told(place.partition)] for place in self.logs}

    def beginning_offsets(self, places: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        if not self.logs.keys() >= {*places}:
            raise TimedOutError("where logs begin is not known after default.api.timeout.ms")
        return {place: self.logs[place][0] for place in places}

    def end_offsets(self, places: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        self.logs = {at: (begin, end + self.grows) for at, (begin, end) in self.logs.items()}
        return {place: self.logs[place][1] for place in places}


class Asked:
    """A reader, and a cluster that it asks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cluster: Cluster, **given: str) -> None:
        monkeypatch.setattr(module, "consuming", lambda *_: nullcontext(cluster))
        self.cluster = cluster
        self._given = GIVEN | given
        self.reader = LogquakeStreamReader(self._given)

    def begins_again(self) -> None:
        """In another process."""
        self.reader = LogquakeStreamReader(self._given)

    def latest(self, start: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        return self.reader.latestOffset(start, ReadAllAvailable())

    def first(self) -> dict[str, dict[str, int]]:
        """The end of the first batch, which Spark logs; where it begins it does not."""
        return self.latest(self.reader.initialOffset())

    def ranges(
        self, start: dict[str, dict[str, int]], end: dict[str, dict[str, int]]
    ) -> list[OffsetRange]:
        return [each.value for each in self.reader.partitions(start, end)]


def orders(offset: int) -> dict[str, dict[str, int]]:
    return {"orders": {"0": offset}}


def test_wrong_options_are_told_when_it_is_asked_and_not_when_it_is_made() -> None:
    reader = LogquakeStreamReader({**GIVEN, "endingOffsets": "latest"})
    with pytest.raises(OptionError, match=r"(?i)endingoffsets"):
        reader.getDefaultReadLimit()
    with pytest.raises(OptionError, match=r"(?i)endingoffsets"):
        reader.initialOffset()


def test_from_the_latest_all_is_read_that_comes_after_the_first_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Asked(monkeypatch, Cluster({ORDERS: (0, 9)}, grows=3))
    end = asked.first()
    assert end == orders(12)
    assert asked.ranges(asked.reader.initialOffset(), end) == []
    then = asked.latest(end)
    assert asked.ranges(end, then) == [OffsetRange("orders", 0, 12, then["orders"]["0"])]


def test_a_first_batch_from_the_latest_that_is_run_again_begins_where_it_was_to_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Asked(monkeypatch, Cluster({ORDERS: (0, 9)}, grows=3))
    end = asked.first()
    asked.begins_again()
    assert asked.ranges(asked.reader.initialOffset(), end) == []
    then = asked.latest(end)
    if then == end:  # nothing new, as it seems; Spark asks again
        then = asked.latest(end)
    assert asked.ranges(end, then)[0].start == 12


def test_a_first_batch_reads_where_it_begins_at_an_offset_and_waits_where_it_begins_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starting = '{"bills": {"0": 4}, "orders": {"0": -1}}'
    cluster = Cluster({BILLS: (0, 9), ORDERS: (0, 9)}, grows=3)
    asked = Asked(monkeypatch, cluster, startingOffsets=starting)
    start = asked.reader.initialOffset()
    end = asked.latest(start)
    (bills,) = asked.ranges(start, end)
    assert (bills.topic, bills.start) == ("bills", 4)
    asked.begins_again()
    assert asked.ranges(asked.reader.initialOffset(), end) == [bills]
    assert {each.start for each in asked.ranges(end, asked.latest(end))} == {bills.end, 12}


def test_available_now_reads_nothing_from_the_latest_though_more_came_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Asked(monkeypatch, Cluster({ORDERS: (0, 9)}, grows=3))
    asked.reader.prepareForTriggerAvailableNow()
    end = asked.first()
    assert asked.latest(end) == end


def test_a_first_batch_that_is_run_again_has_no_topics_that_came_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Asked(monkeypatch, Cluster({ORDERS: (0, 9)}), startingOffsets="earliest")
    end = asked.first()
    assert end == orders(9)
    asked.cluster.logs[BILLS] = (0, 5)
    asked.begins_again()
    assert asked.ranges(asked.reader.initialOffset(), end) == [OffsetRange("orders", 0, 0, 9)]
    assert asked.ranges(end, asked.latest(end)) == [OffsetRange("bills", 0, 0, 5)]


def test_a_topic_that_went_after_its_batch_was_planned_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster({ORDERS: (0, 9)})
    start, end = {"bills": {"0": 2}, **orders(0)}, {"bills": {"0": 5}, **orders(9)}
    with pytest.raises(DataLossError, match="bills-0 is gone, with all from offset 2 on"):
        Asked(monkeypatch, cluster).ranges(start, end)
    left = Asked(monkeypatch, cluster, failOnDataLoss="false").ranges(start, end)
    assert left == [OffsetRange("bills", 0, 5, 5), OffsetRange("orders", 0, 0, 9)]


def test_what_cannot_be_asked_though_all_is_there_is_no_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent(Cluster):
        def beginning_offsets(self, _: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
            raise TimedOutError("no broker answers")

    asked = Asked(monkeypatch, Silent({ORDERS: (0, 9)}), failOnDataLoss="false")
    with pytest.raises(TimedOutError):
        asked.ranges(orders(0), orders(9))


def test_a_batch_that_is_run_again_has_its_tasks_whatever_is_gone_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster({ORDERS: (0, 100), BILLS: (0, 9)})
    asked = Asked(monkeypatch, cluster, failOnDataLoss="false", maxRecordsPerPartition="50")
    start, end = {"bills": {"0": 0}, **orders(0)}, {"bills": {"0": 9}, **orders(100)}
    assert len(asked.ranges(start, end)) == 3
    cluster.logs = {ORDERS: (70, 100), BILLS: (9, 9)}
    assert asked.ranges(start, end) == [
        OffsetRange("bills", 0, 9, 9),
        OffsetRange("orders", 0, 50, 50),
        OffsetRange("orders", 0, 70, 100),
    ]
    assert not [*asked.reader.read(asked.reader.partitions(start, end)[0])]
