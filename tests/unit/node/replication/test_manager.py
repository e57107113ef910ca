"""The pass: what is written together, and who is answered when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from logquake.node.replication.fetch_sessions import FetchContext
from logquake.node.replication.values import (
    FetchParams,
    FetchPartition,
    FetchResult,
    Isolation,
    ProduceEntry,
    ProduceResult,
)
from logquake.wire.errors import ErrorCode
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import OneBroker

Batch = Callable[..., memoryview]
FOLLOWER = FetchParams(2, 70, 0, 1, 1 << 20, Isolation.LOG_END)


def produce(broker: OneBroker, *entries: tuple[int, memoryview], acks: int) -> list[ProduceResult]:
    answered: list[ProduceResult] = []
    named = [ProduceEntry("orders", index, records) for index, records in entries]
    broker.replicas.appends.add(named, acks, 30_000, answered.extend)
    return answered


def fetch(
    broker: OneBroker, offset: int, params: FetchParams, *indexes: int, max_bytes: int = 1 << 20
) -> list[FetchResult]:
    answered: list[FetchResult] = []
    asked = [
        FetchPartition(("orders", i), "orders", bytes(16), i, offset, max_bytes) for i in indexes
    ]
    broker.replicas.fetches.fetch(
        params, FetchContext(asked), lambda reads: answered.extend(read.result for read in reads)
    )
    return answered


def test_a_pass_writes_each_partition_once(broker: OneBroker, batch: Batch) -> None:
    broker.lead(0, isr=(1,))
    broker.lead(1, isr=(1,))
    broker.replicas.end_of_pass()
    broker.disk.faults.keep_history = True
    answers = [produce(broker, (i % 2, batch(b"v")), acks=1) for i in range(6)]
    assert answers == [[]] * 6
    broker.replicas.end_of_pass()
    assert [answer[0].base_offset for answer in answers] == [0, 0, 1, 1, 2, 2]
    writes = [line for line in broker.disk.faults.history if ".log" in line]
    assert len(writes) == 2


def test_an_append_tells_whether_it_waits_for_followers(broker: OneBroker, batch: Batch) -> None:
    def waits(acks: int, index: int = 0) -> Any:
        entry = ProduceEntry("orders", index, batch(b"v"))
        return broker.replicas.appends.add([entry], acks, 30_000, lambda _results: None)

    broker.lead(isr=(1,), replicas=(1, 2))  # broker 2 may be about to join the ISR
    assert waits(-1)
    assert not waits(1)
    assert not waits(0)
    broker.lead(1, isr=(1,), replicas=(1,))
    assert not waits(-1, 1)


def test_staged_records_are_nobodys_to_read(broker: OneBroker, batch: Batch) -> None:
    broker.lead(isr=(1,))
    produce(broker, (0, batch(b"v")), acks=1)
    assert fetch(broker, 0, FOLLOWER, 0)[0].records is None
    broker.replicas.end_of_pass()
    assert fetch(broker, 0, FOLLOWER, 0)[0].records


def test_one_refused_partition_does_not_keep_the_others(broker: OneBroker, batch: Batch) -> None:
    broker.lead(0, isr=(1,))
    damaged = batch(b"value")
    damaged[-1] ^= 1
    answer = produce(broker, (0, damaged), (0, batch(b"v")), (7, batch(b"v")), acks=-1)
    broker.replicas.end_of_pass()
    assert [result.error for result in answer] == [
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]


def test_clients_may_not_write_kafkas_own_topics(broker: OneBroker, batch: Batch) -> None:
    answered: list[ProduceResult] = []
    entry = ProduceEntry("__consumer_offsets", 0, batch(b"v"))
    broker.replicas.appends.add([entry], 1, 0, answered.extend)
    broker.replicas.end_of_pass()
    assert answered[0].error is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_replicated_but_too_few_by_now(broker: OneBroker, batch: Batch) -> None:
    """The mark passed the write, and in the same pass the ISR fell below the minimum."""
    broker.config = type(broker.config)(min_insync_replicas=2)
    broker.lead()
    answer = produce(broker, (0, batch(b"v")), acks=-1)
    broker.replicas.end_of_pass()
    fetch(broker, 1, FOLLOWER, 0)
    broker.lead(epoch=1, isr=(1,))
    broker.replicas.end_of_pass()
    assert [result.error for result in answer] == [ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND]
    assert answer[0].base_offset == 0


def test_a_write_is_not_acked_by_a_later_leadership(broker: OneBroker, batch: Batch) -> None:
    """Deposed and elected again within one pass: the log may have been cut in between."""
    broker.lead()
    answer = produce(broker, (0, batch(b"v")), acks=-1)
    broker.assign(leader=2, epoch=1)
    broker.lead(epoch=2, isr=(1,))
    broker.replicas.end_of_pass()
    assert [result.error for result in answer] == [ErrorCode.NOT_LEADER_OR_FOLLOWER]


def test_records_staged_before_a_role_change_keep_their_epoch(
    broker: OneBroker, batch: Batch
) -> None:
    broker.lead(epoch=3)
    produce(broker, (0, batch(b"v")), acks=1)
    broker.lead(epoch=4)
    produce(broker, (0, batch(b"w")), acks=1)
    broker.replicas.end_of_pass()
    log = broker.partition().replica.log
    assert [h.partition_leader_epoch for h in log.headers(0)] == [3, 4]
    assert [tuple(entry) for entry in log.epochs.entries] == [(3, 0), (4, 1)]


def test_an_answer_may_bring_another_append(broker: OneBroker, batch: Batch) -> None:
    broker.lead(isr=(1,))
    bases: list[int] = []

    def again(results: list[ProduceResult]) -> None:
        bases.append(results[0].base_offset)
        if len(bases) < 3:
            broker.replicas.appends.add([ProduceEntry("orders", 0, batch(b"v"))], -1, 100, again)

    broker.replicas.appends.add([ProduceEntry("orders", 0, batch(b"v"))], -1, 100, again)
    broker.replicas.end_of_pass()
    assert bases == [0, 1, 2]


def test_a_fetch_shares_its_bytes_among_partitions(broker: OneBroker, batch: Batch) -> None:
    for index in range(3):
        broker.lead(index, isr=(1,))
        produce(broker, (index, batch(bytes(100))), acks=1)
    broker.replicas.end_of_pass()
    tight = FetchParams(-1, -1, 0, 1, 200, Isolation.HIGH_WATERMARK)
    sizes = [len(r.records or b"") for r in fetch(broker, 0, tight, 0, 1, 2)]
    assert sizes[0] > 100
    assert sizes[1:] == [0, 0]


def test_a_first_batch_above_the_limit_is_still_returned(broker: OneBroker, batch: Batch) -> None:
    broker.lead(isr=(1,))
    produce(broker, (0, batch(bytes(5_000))), acks=1)
    broker.replicas.end_of_pass()
    tiny = FetchParams(-1, -1, 0, 1, 100, Isolation.HIGH_WATERMARK)
    assert len(fetch(broker, 0, tiny, 0, max_bytes=10)[0].records or b"") > 5_000
    tiny.hard_max_bytes = True
    assert fetch(broker, 0, tiny, 0, max_bytes=10)[0].records is None


def test_a_waiting_fetch_reads_only_what_was_touched(broker: OneBroker, batch: Batch) -> None:
    for index in range(3):
        broker.lead(index, isr=(1,))
    broker.replicas.end_of_pass()
    patient = FetchParams(2, 70, 500, 1, 1 << 20, Isolation.LOG_END)
    answer = fetch(broker, 0, patient, 0, 1, 2)
    produce(broker, (1, batch(b"v")), acks=1)
    assert answer == []
    broker.replicas.end_of_pass()
    assert [bool(result.records) for result in answer] == [False, True, False]


def test_a_waiting_follower_is_told_the_high_watermark_of_the_moment_it_is_answered(
    broker: OneBroker, batch: Batch, scheduler: ManualScheduler
) -> None:
    broker.lead(isr=(1, 2, 3), replicas=(1, 2, 3))
    produce(broker, (0, batch(b"v")), acks=1)
    broker.replicas.end_of_pass()
    first = fetch(broker, 1, FetchParams(2, 70, 500, 1, 1 << 20, Isolation.LOG_END), 0)
    fetch(broker, 1, FetchParams(3, 70, 500, 1, 1 << 20, Isolation.LOG_END), 0)
    broker.replicas.end_of_pass()
    assert first == []  # that the high watermark moved is no reason to answer
    scheduler.advance(500)
    assert [result.high_watermark for result in first] == [1]


def test_a_waiting_fetch_is_answered_once_its_offset_or_epoch_is_refused(
    broker: OneBroker, batch: Batch
) -> None:
    broker.lead(isr=(1,))
    produce(broker, (0, batch(b"v")), acks=1)
    broker.replicas.end_of_pass()
    patient = FetchParams(-1, -1, 500, 1, 1 << 20, Isolation.HIGH_WATERMARK)
    answer = fetch(broker, 1, patient, 0)
    assert answer == []
    broker.assign(0, leader=2, epoch=1)
    broker.replicas.end_of_pass()
    assert [result.error for result in answer] == [ErrorCode.NOT_LEADER_OR_FOLLOWER]


def test_a_partition_named_twice_is_answered_twice(
    broker: OneBroker, scheduler: ManualScheduler
) -> None:
    broker.lead(isr=(1,))
    patient = FetchParams(-1, -1, 500, 1, 1 << 20, Isolation.HIGH_WATERMARK)
    answer = fetch(broker, 0, patient, 0, 0)
    scheduler.advance(500)
    assert [result.error for result in answer] == [ErrorCode.NONE] * 2


def test_closing_writes_the_high_watermarks(broker: OneBroker, batch: Batch) -> None:
    broker.lead(isr=(1,))
    produce(broker, (0, batch(b"v")), acks=1)
    broker.replicas.close()
    written = broker.disk.read("/data/replication-offset-checkpoint")
    assert written.split() == [b"0", b"1", b"orders", b"0", b"1"]
