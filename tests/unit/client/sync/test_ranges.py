"""A range of a partition whose log loses something while it is read."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from logquake.client.errors import OffsetOutOfRangeError
from logquake.client.sync.ranges import stored_range
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("orders", 0)


class Batch:
    """Of ten offsets."""

    def __init__(self, first: int) -> None:
        self.first = first

    def may_begin_before(self, end: int) -> bool:
        return self.first < end


class Log:
    """As a consumer sees it: begins and ends there, and refuses so many of the next fetches."""

    def __init__(self, begin: int, end: int, *, refused_at: Iterable[int]) -> None:
        self.config = SimpleNamespace(default_api_timeout_ms=1)
        self._begin = begin
        self._end = end
        self._refused_at = list(refused_at)
        self._position = 0

    def assign(self, _: list[TopicPartition]) -> None: ...

    def seek(self, _: TopicPartition, offset: int) -> None:
        self._position = offset

    def position(self, _: TopicPartition) -> int:
        return self._position

    def beginning_offsets(self, _: list[TopicPartition]) -> dict[TopicPartition, int]:
        return {PLACE: self._begin}

    def end_offsets(self, _: list[TopicPartition]) -> dict[TopicPartition, int]:
        return {PLACE: self._end}

    def poll_batches(self, _: int) -> dict[TopicPartition, list[Batch]]:
        if self._position in self._refused_at:
            self._refused_at.remove(self._position)
            raise OffsetOutOfRangeError("orders-0")
        if not self._begin <= self._position < self._end:
            raise OffsetOutOfRangeError("orders-0")
        self._position += 10
        return {PLACE: [Batch(self._position - 10)]}


def read(log: Log, *, strict: bool = False) -> list[int]:
    consumer: Any = log
    batches: Any = stored_range(consumer, PLACE, 0, 50, fail_on_data_loss=strict)
    return [batch.first for batch in batches]


def test_what_was_cut_off_and_written_anew_is_read_on_where_loss_is_allowed() -> None:
    assert read(Log(0, 50, refused_at=[20])) == [0, 10, 20, 30, 40]


def test_what_retention_took_and_what_a_log_has_no_more_is_passed_over() -> None:
    assert read(Log(30, 50, refused_at=[])) == [30, 40]
    assert read(Log(0, 20, refused_at=[])) == [0, 10]


@pytest.mark.parametrize(
    ("log", "strict"),
    [
        pytest.param(Log(0, 50, refused_at=[20, 20]), False, id="again and again"),
        pytest.param(Log(30, 50, refused_at=[]), True, id="no loss allowed"),
    ],
)
def test_what_cannot_be_read_is_no_end(log: Log, *, strict: bool) -> None:
    with pytest.raises(OffsetOutOfRangeError):
        read(log, strict=strict)
