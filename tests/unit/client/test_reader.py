"""Reading a range of a partition from brokers that cut, move, stall and hide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from logquake.client.consumer.settings import Isolation
from logquake.client.cursor import ReadOptions
from logquake.client.errors import (
    MalformedResponseError,
    OffsetOutOfRangeError,
    ReadStalledError,
)
from logquake.client.reader import PartitionReader
from logquake.client.routing import Router
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from logquake.wire.records import (
    BatchFlag,
    Codec,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
    read_header,
)
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology


def fetched(
    records: bytes = b"",
    code: ErrorCode = ErrorCode.NONE,
    aborted: Sequence[AbortedTransaction] = (),
) -> FetchResponse:
    data = PartitionData(
        partition_index=0,
        error_code=code,
        high_watermark=0,
        records=records,
        aborted_transactions=list(aborted),
    )
    return FetchResponse(
        session_id=0,
        responses=[FetchableTopicResponse(topic="t", topic_id=bytes(16), partitions=[data])],
    )


def batch(first: int, count: int, **fields: Any) -> bytes:
    records = [Record(first + i, 1000 + i, b"k", b"%d" % (first + i)) for i in range(count)]
    return bytes(encode_batch(records, base_offset=first, **fields))


class Log:
    """A broker's answer to Fetch: from the batch that holds the offset on, cut by size."""

    def __init__(self, *batches: bytes, cut: int = 10_000) -> None:
        self._batches = batches
        self._cut = cut

    def __call__(self, request: Any, _address: Any) -> FetchResponse:
        offset = request.topics[0].partitions[0].fetch_offset
        later = [one for one in self._batches if read_header(memoryview(one)).last_offset >= offset]
        return fetched(b"".join(later)[: self._cut])


def offsets(reader: PartitionReader) -> list[int]:
    return [record.offset for record in reader.records()]


def test_exactly_the_range_is_read_however_batches_and_responses_are_cut(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.FETCH] = Log(
        batch(0, 5), batch(5, 5, codec=Codec.ZSTD), batch(10, 5), cut=len(batch(0, 5)) + 30
    )
    reader = PartitionReader(router, "t", 0, 3, 12)
    assert offsets(reader) == list(range(3, 12))
    assert reader.position == 12


def test_gaps_of_compaction_are_passed_over_up_to_the_end(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.FETCH] = Log(
        bytes(encode_batch([Record(2, 1, b"k", b"v")], base_offset=0, last_offset=9)),
        bytes(encode_batch([], base_offset=10, last_offset=19)),
    )
    assert offsets(PartitionReader(router, "t", 0, 0, 20)) == [2]


def test_the_leader_epoch_is_named_and_a_moved_leader_followed(
    router: Router, network: FakeNetwork, topology: FakeTopology
) -> None:
    log = Log(batch(0, 3))

    def moved(request: Any, address: Any) -> FetchResponse:
        epoch = request.topics[0].partitions[0].current_leader_epoch
        if (address.host, epoch) == ("two", 6):
            return log(request, address)
        topology.leaders[0] = (2, 6)
        return fetched(code=ErrorCode.FENCED_LEADER_EPOCH)

    network.handlers[ApiKey.FETCH] = moved
    assert offsets(PartitionReader(router, "t", 0, 0, 3)) == [0, 1, 2]


def test_a_lost_connection_in_the_middle_costs_nothing(
    router: Router, network: FakeNetwork
) -> None:
    log = Log(batch(0, 3), batch(3, 3), cut=len(batch(0, 3)))

    def lose(_request: Any, _address: Any) -> Exception:
        return ConnectionResetError("reset")

    answers: Iterator[Callable[[Any, Any], Any]] = iter([log, lose, log, log])

    def next_answer(request: Any, address: Any) -> Any:
        return next(answers)(request, address)

    network.handlers[ApiKey.FETCH] = next_answer
    assert offsets(PartitionReader(router, "t", 0, 0, 6)) == list(range(6))


def test_an_offset_that_is_gone_is_said_so(router: Router, network: FakeNetwork) -> None:
    network.handlers[ApiKey.FETCH] = lambda *_: fetched(code=ErrorCode.OFFSET_OUT_OF_RANGE)
    with pytest.raises(OffsetOutOfRangeError, match="t-0 at offset 7"):
        offsets(PartitionReader(router, "t", 0, 7, 9))


def test_an_end_that_is_never_reached_is_given_up(
    router: Router, network: FakeNetwork, clock: FakeClock
) -> None:
    log = Log(batch(0, 3))

    def slow(request: Any, address: Any) -> FetchResponse:
        clock.now += request.max_wait_ms
        return log(request, address)

    network.handlers[ApiKey.FETCH] = slow
    reader = PartitionReader(router, "t", 0, 0, 5, ReadOptions(stall_timeout_ms=4000))
    read: list[int] = []
    with pytest.raises(ReadStalledError, match="nothing at 3 of 5"):
        read.extend(record.offset for record in reader.records())
    assert read == [0, 1, 2]


@pytest.mark.parametrize("position", [30, 70])
def test_damage_is_found(router: Router, network: FakeNetwork, position: int) -> None:
    damaged = bytearray(batch(0, 3))
    damaged[position] ^= 1
    network.handlers[ApiKey.FETCH] = lambda *_: fetched(bytes(damaged))
    with pytest.raises(MalformedResponseError, match="CORRUPT_MESSAGE"):
        offsets(PartitionReader(router, "t", 0, 0, 3))


def transactional(first: int, count: int, producer_id: int) -> bytes:
    return batch(
        first,
        count,
        flags=BatchFlag.TRANSACTIONAL,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
    )


def marker(offset: int, producer_id: int, control_type: ControlType) -> bytes:
    return bytes(
        encode_end_marker(
            control_type,
            coordinator_epoch=0,
            producer_id=producer_id,
            producer_epoch=0,
            timestamp_ms=1,
            base_offset=offset,
        )
    )


def test_aborted_transactions_and_markers_are_left_out(
    router: Router, network: FakeNetwork
) -> None:
    log = b"".join(
        [
            transactional(0, 2, producer_id=8),  # aborted at 4
            transactional(2, 2, producer_id=9),  # committed
            marker(4, 8, ControlType.ABORT),
            transactional(5, 1, producer_id=8),  # its next transaction, committed
            batch(6, 1),
            marker(7, 9, ControlType.COMMIT),
            marker(8, 8, ControlType.COMMIT),
        ]
    )
    aborted = [AbortedTransaction(producer_id=8, first_offset=0)]
    network.handlers[ApiKey.FETCH] = lambda *_: fetched(log, aborted=aborted)
    committed = ReadOptions(isolation=Isolation.READ_COMMITTED)
    assert offsets(PartitionReader(router, "t", 0, 0, 9, committed)) == [2, 3, 5, 6]
    assert network.requests[ApiKey.FETCH][-1].isolation_level == 1


def test_without_isolation_only_markers_are_left_out(router: Router, network: FakeNetwork) -> None:
    network.handlers[ApiKey.FETCH] = Log(
        transactional(0, 2, producer_id=8), marker(2, 8, ControlType.ABORT), batch(3, 1)
    )
    assert offsets(PartitionReader(router, "t", 0, 0, 4)) == [0, 1, 3]


def test_an_empty_range_asks_nobody(router: Router, network: FakeNetwork) -> None:
    assert offsets(PartitionReader(router, "t", 0, 5, 5)) == []
    assert not network.requests[ApiKey.FETCH]
