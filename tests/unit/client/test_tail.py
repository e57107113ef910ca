"""Several partitions, read turn by turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from logquake.client.cursor import NO_END, PartitionCursor, ReadOptions
from logquake.client.errors import OffsetOutOfRangeError
from logquake.client.routing import Router
from logquake.client.settings import Address
from logquake.client.tail import Tail
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from logquake.wire.records import Record, encode_batch
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import FakeNetwork, FakeTopology

OPTIONS = ReadOptions(fetch_max_wait_ms=100, stall_timeout_ms=1_000)


class Logs:
    """Ten records in each partition; codes that partitions answer with instead, each once."""

    def __init__(self) -> None:
        self.errors: dict[int, ErrorCode] = {}

    def fetch(self, request: Any, _address: Address) -> FetchResponse:
        partitions = [self._read(asked) for asked in request.topics[0].partitions]
        topic = FetchableTopicResponse(topic="t", partitions=partitions)
        return FetchResponse(error_code=0, responses=[topic])

    def _read(self, asked: Any) -> PartitionData:
        code = self.errors.pop(asked.partition, ErrorCode.NONE)
        records = [Record(n, 0, None, b"%d" % n) for n in range(asked.fetch_offset, 10)]
        empty = code is not ErrorCode.NONE or not records
        return PartitionData(
            partition_index=asked.partition,
            error_code=code,
            high_watermark=10,
            records=None if empty else encode_batch(records),
        )


@pytest.fixture
def logs(network: FakeNetwork) -> Logs:
    logs = Logs()
    network.handlers[ApiKey.FETCH] = logs.fetch
    return logs


def tail(router: Router, starts: Mapping[int, int], end: int = NO_END) -> Tail:
    cursors = [
        PartitionCursor(TopicPartition("t", p), at, OPTIONS, end) for p, at in starts.items()
    ]
    return Tail(router, cursors, OPTIONS)


def read(tail: Tail, turns: int) -> Iterable[tuple[int, list[int]]]:
    return [
        (found.place.partition, [record.offset for record in found.batch.records])
        for _ in range(turns)
        for found in tail.turn()
    ]


@pytest.mark.usefixtures("logs")
def test_leaders_take_turns(router: Router) -> None:
    both = tail(router, {0: 8, 1: 9}, end=10)
    assert read(both, 2) == [(0, [8, 9]), (1, [9])]
    assert both.is_at_end
    assert both.positions() == {TopicPartition("t", 0): 10, TopicPartition("t", 1): 10}


@pytest.mark.usefixtures("logs")
def test_a_leader_of_several_is_asked_once(
    router: Router, network: FakeNetwork, topology: FakeTopology
) -> None:
    topology.leaders = {0: (1, 5), 1: (1, 5)}
    assert read(tail(router, {0: 9, 1: 9}), 1) == [(0, [9]), (1, [9])]
    assert len(network.requests[ApiKey.FETCH]) == 1


@pytest.mark.usefixtures("logs")
def test_nobody_waits_while_there_is_something_to_read(
    router: Router, network: FakeNetwork
) -> None:
    read(tail(router, {0: 10, 1: 9}), 5)
    waits = [request.max_wait_ms for request in network.requests[ApiKey.FETCH]]
    assert waits == [0, 0, 0, 0, 100]


def test_a_leader_that_moved_does_not_hold_up_the_others(router: Router, logs: Logs) -> None:
    logs.errors[0] = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert read(tail(router, {0: 9, 1: 9}), 2) == [(1, [9]), (0, [9])]


def test_an_offset_that_is_gone_is_told(router: Router, logs: Logs) -> None:
    logs.errors[0] = ErrorCode.OFFSET_OUT_OF_RANGE
    with pytest.raises(OffsetOutOfRangeError, match="t-0 at offset 3"):
        tail(router, {0: 3}).turn()
