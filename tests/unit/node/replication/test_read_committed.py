"""Readers of committed records: how far they may read, what they are told, when they are woken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.replication.fetch_sessions import FetchContext
from logquake.node.replication.values import (
    FetchParams,
    FetchPartition,
    FetchResult,
    Isolation,
    ProduceEntry,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.records import (
    BatchFlag,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
    iterate_batches,
)
from tests.parts import bytes_of
from tests.unit.node.replication.one_broker import OneBroker

LATEST = -1
Produce = Callable[..., None]


def consumer(isolation: Isolation, max_wait_ms: int = 0) -> FetchParams:
    return FetchParams(-1, -1, max_wait_ms, 1, 1 << 20, isolation)


def fetch(broker: OneBroker, offset: int, params: FetchParams) -> list[FetchResult]:
    """What was answered so far, and will be."""
    answered: list[FetchResult] = []
    asked = FetchPartition(("orders", 0), "orders", bytes(16), 0, offset, 1 << 20)
    broker.replicas.fetches.fetch(
        params, FetchContext([asked]), lambda reads: answered.extend(read.result for read in reads)
    )
    return answered


def follow(broker: OneBroker, offset: int) -> FetchResult:
    """Broker 2 has everything below offset."""
    return fetch(broker, offset, FetchParams(2, 70, 0, 1, 1 << 20, Isolation.LOG_END))[0]


def offsets(result: FetchResult) -> list[int]:
    if result.records is None:
        return []
    found = iterate_batches(memoryview(bytes_of(result.records)))
    return [header.base_offset for _, header in found]


def latest(broker: OneBroker, isolation: Isolation) -> int:
    listed = broker.replicas.list_offset(
        "orders", 0, LATEST, isolation=isolation, current_leader_epoch=-1, only_leader=True
    )
    assert listed.error is ErrorCode.NONE
    return int(listed.offset)


@pytest.fixture
def write(broker: OneBroker) -> Produce:
    """write(pid, sequence): two records; write(pid, end=): a marker; pid -1 has no transaction."""

    def write_it(pid: int, sequence: int = 0, end: ControlType | None = None) -> None:
        if end is not None:
            batch = encode_end_marker(
                end, coordinator_epoch=0, producer_id=pid, producer_epoch=0, timestamp_ms=1
            )
        elif pid < 0:
            batch = encode_batch([Record(i, 1, None, b"v") for i in range(2)])
        else:
            batch = encode_batch(
                [Record(i, 1, None, b"v") for i in range(2)],
                producer_id=pid,
                producer_epoch=0,
                base_sequence=sequence,
                flags=BatchFlag.TRANSACTIONAL,
            )
        guard = broker.partition().replica.log.begin_verification(pid, 0, sequence, 0)
        entry = ProduceEntry("orders", 0, memoryview(batch), guard=guard)
        done: list[Any] = []
        broker.replicas.appends.add([entry], 1, 30_000, done.extend, internal=end is not None)
        broker.replicas.end_of_pass()
        assert done[0].error is ErrorCode.NONE

    return write_it


def test_a_committed_read_ends_where_a_transaction_is_under_way(
    broker: OneBroker, write: Produce
) -> None:
    broker.lead(isr=(1,))
    write(-1)
    write(5)
    write(-1)
    committed = fetch(broker, 0, consumer(Isolation.TXN_COMMITTED))[0]
    assert (offsets(committed), committed.aborted) == ([0], [])
    assert (committed.high_watermark, committed.last_stable_offset) == (6, 2)
    uncommitted = fetch(broker, 0, consumer(Isolation.HIGH_WATERMARK))[0]
    assert (offsets(uncommitted), uncommitted.aborted) == ([0, 2, 4], None)
    assert (uncommitted.high_watermark, uncommitted.last_stable_offset) == (6, 2)
    assert latest(broker, Isolation.TXN_COMMITTED) == 2
    assert latest(broker, Isolation.HIGH_WATERMARK) == 6


def test_aborted_transactions_are_named_with_the_records(broker: OneBroker, write: Produce) -> None:
    broker.lead(isr=(1,))
    for pid in (5, 6):
        write(pid)
    write(5, end=ControlType.ABORT)
    write(6, end=ControlType.COMMIT)
    result = fetch(broker, 0, consumer(Isolation.TXN_COMMITTED))[0]
    assert offsets(result) == [0, 2, 4, 5]
    assert result.aborted is not None
    assert [(each.producer_id, each.first_offset) for each in result.aborted] == [(5, 0)]
    assert fetch(broker, 5, consumer(Isolation.TXN_COMMITTED))[0].aborted == []
    assert latest(broker, Isolation.TXN_COMMITTED) == 6


def test_an_end_counts_once_it_is_replicated(broker: OneBroker, write: Produce) -> None:
    broker.lead(isr=(1, 2))
    write(5)
    follow(broker, 2)
    write(5, end=ControlType.COMMIT)
    assert latest(broker, Isolation.HIGH_WATERMARK) == 2
    assert latest(broker, Isolation.TXN_COMMITTED) == 0
    follow(broker, 3)
    assert latest(broker, Isolation.TXN_COMMITTED) == 3


def test_a_waiting_committed_read_is_woken_when_the_stable_offset_moves(
    broker: OneBroker, write: Produce
) -> None:
    broker.lead(isr=(1, 2))
    write(5)
    follow(broker, 2)
    waiting = fetch(broker, 0, consumer(Isolation.TXN_COMMITTED, max_wait_ms=500))
    broker.replicas.end_of_pass()
    assert waiting == []
    write(5, end=ControlType.ABORT)
    assert waiting == []
    follow(broker, 3)
    broker.replicas.end_of_pass()
    (result,) = waiting
    assert (offsets(result), result.last_stable_offset) == ([0, 2], 3)
    assert result.aborted is not None
    assert [each.first_offset for each in result.aborted] == [0]


def test_a_follower_gets_what_is_under_way(broker: OneBroker, write: Produce) -> None:
    broker.lead(isr=(1, 2))
    write(5)
    result = follow(broker, 0)
    assert (offsets(result), result.aborted) == ([0], None)


def test_a_truncated_end_marker_leaves_the_transaction_open(
    broker: OneBroker, write: Produce
) -> None:
    broker.lead(isr=(1,))
    write(5)
    write(5, end=ControlType.COMMIT)
    assert latest(broker, Isolation.TXN_COMMITTED) == 3
    replica = broker.partition().replica
    replica.truncate_to(2, "the new leader does not have it")
    assert (replica.high_watermark, replica.last_stable_offset) == (2, 0)
    replica.restart_at(10, "the leader begins there")
    assert (replica.high_watermark, replica.last_stable_offset) == (10, 10)
