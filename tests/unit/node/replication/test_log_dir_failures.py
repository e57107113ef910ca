"""One of three directories fails: its partitions go offline, the others go on."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.replication.background import checkpoints
from logquake.node.replication.background.high_watermarks import HighWatermarks
from logquake.node.replication.fetch_sessions import FetchContext
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.roles import Follower, Leader, Offline
from logquake.node.replication.values import (
    FetchParams,
    FetchPartition,
    Isolation,
    ProduceEntry,
    ProduceResult,
)
from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from tests.doubles.journal import MemoryJournal
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import ScheduledWorkers
from tests.unit.node.replication.one_broker import OneBroker

Batch = Callable[..., memoryview]


@pytest.fixture
def paths() -> tuple[str, ...]:
    return ("/a", "/b", "/c")


def break_disk(broker: OneBroker, *paths: str) -> None:
    def refuse(_operation: str, path: str) -> None:
        if path.startswith(paths):
            raise OSError(errno.EIO, "broken")

    broker.disk.faults.watcher = refuse


def produce(broker: OneBroker, batch: Batch, index: int, acks: int = 1) -> list[ProduceResult]:
    results: list[ProduceResult] = []
    entry = ProduceEntry("orders", index, batch(b"v"))
    broker.replicas.appends.add([entry], acks, 60_000, results.extend)
    return results


def roles(broker: OneBroker) -> list[type]:
    return [type(partition.role) for partition in broker.replicas.partitions()]


def lead(broker: OneBroker, *indexes: int, isr: tuple[int, ...] = (1,)) -> None:
    for index in indexes:
        broker.lead(index, isr=isr)
    broker.replicas.end_of_pass()


def test_partitions_spread_over_the_directories(broker: OneBroker) -> None:
    lead(broker, 0, 1, 2, 3)
    directories = [each.replica.log.directory for each in broker.replicas.partitions()]
    assert directories == ["/a/orders-0", "/b/orders-1", "/c/orders-2", "/a/orders-3"]


def test_all_partitions_of_the_directory_go_offline_and_no_others(
    broker: OneBroker, batch: Batch, journal: MemoryJournal
) -> None:
    lead(broker, 0, 1, 2, 3)
    break_disk(broker, "/a/")
    failed = produce(broker, batch, 0)
    broker.replicas.end_of_pass()
    assert [result.error for result in failed] == [ErrorCode.KAFKA_STORAGE_ERROR]
    assert roles(broker) == [Offline, Leader, Leader, Offline]
    assert [event.subject for event in journal.of("log-dir-failed")] == ["/a"]
    assert broker.told == ["one failed"]
    served = produce(broker, batch, 1)
    broker.replicas.end_of_pass()
    assert [result.error for result in served] == [ErrorCode.NONE]


def test_records_of_the_same_pass_are_not_acked_on_the_failed_disk(
    broker: OneBroker, batch: Batch
) -> None:
    lead(broker, 0, 1, 2, 3)
    break_disk(broker, "/a/orders-3")
    results = [produce(broker, batch, index) for index in (0, 1, 3)]
    broker.replicas.end_of_pass()
    assert [result[0].error for result in results] == [
        ErrorCode.KAFKA_STORAGE_ERROR,  # written, but its directory failed before the answer
        ErrorCode.NONE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    ]


def test_who_waits_for_replication_is_answered(broker: OneBroker, batch: Batch) -> None:
    lead(broker, 0, 1, 2, 3, isr=(1, 2))
    waiting = produce(broker, batch, 3, acks=-1)
    broker.replicas.end_of_pass()
    assert waiting == []
    break_disk(broker, "/a/")
    produce(broker, batch, 0)
    broker.replicas.end_of_pass()
    assert [result.error for result in waiting] == [ErrorCode.KAFKA_STORAGE_ERROR]


def test_reads_of_the_directory_are_refused(broker: OneBroker, batch: Batch) -> None:
    lead(broker, 0, 1, 2, 3)
    produce(broker, batch, 3)
    broker.replicas.end_of_pass()
    break_disk(broker, "/a/")
    produce(broker, batch, 0)
    broker.replicas.end_of_pass()
    partition = broker.partition(3)
    asked = FetchPartition(("orders", 3), "orders", partition.topic_id, 3, 0, 1 << 20)
    answers: list[Any] = []
    broker.replicas.fetches.fetch(
        FetchParams(-1, -1, 0, 1, 1 << 20, Isolation.HIGH_WATERMARK),
        FetchContext([asked]),
        lambda reads: answers.extend(read.result for read in reads),
    )
    listed = broker.replicas.list_offset("orders", 3, -1, isolation=Isolation.HIGH_WATERMARK)
    assert answers[0].error is ErrorCode.KAFKA_STORAGE_ERROR
    assert listed.error is ErrorCode.KAFKA_STORAGE_ERROR


def test_nothing_is_fetched_for_it_any_more(
    broker: OneBroker, network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    for index in (0, 1):
        broker.assign(index, leader=2)
    assert roles(broker) == [Follower, Follower]
    break_disk(broker, "/a/")
    broker.log_dirs.report_failure("/a", "broken")
    assert roles(broker) == [Offline, Follower]
    fetches = [sent for sent in network.sent if type(sent.request).__name__ == "FetchRequest"]
    fetches[-1].done(Disconnected("lost"))
    scheduler.advance(2_000)
    named = network.sent[-1].request
    assert [p.partition for topic in named.topics for p in topic.partitions] == [1]


def test_the_controller_learns_which_are_lost(broker: OneBroker) -> None:
    lead(broker, 0, 1)
    broker.log_dirs.report_failure("/a", "broken")
    answer = broker.tell(0, leader=1, epoch=5)
    assert answer == ErrorCode.KAFKA_STORAGE_ERROR
    assert broker.tell(1, leader=1, epoch=0) == ErrorCode.STALE_CONTROLLER_EPOCH
    assert broker.tell(7, leader=1, epoch=3) == ErrorCode.KAFKA_STORAGE_ERROR  # may lie in /a
    assert broker.tell(8, leader=1, epoch=0) == ErrorCode.NONE  # a new one cannot


def test_a_deletion_amid_which_the_disk_fails_holds_up_no_later_command(broker: OneBroker) -> None:
    lead(broker, 0, 1, 2, 3)
    break_disk(broker, "/a/orders-3")
    answers = broker.delete([0, 3])
    assert [each.error_code for each in answers[0].partition_errors] == [
        ErrorCode.KAFKA_STORAGE_ERROR
    ] * 2
    assert broker.tell(1, leader=1, epoch=1) == ErrorCode.NONE


def test_a_checkpoint_is_enough_to_notice(broker: OneBroker, scheduler: ManualScheduler) -> None:
    lead(broker, 0, 1, 2)
    break_disk(broker, "/b/replication-offset-checkpoint")
    scheduler.advance(5_010)
    assert roles(broker) == [Leader, Offline, Leader]


def test_high_watermarks_stay_with_their_directory(broker: OneBroker, batch: Batch) -> None:
    lead(broker, 0, 1)
    for index in (0, 1, 1):
        produce(broker, batch, index)
        broker.replicas.end_of_pass()
    broker.replicas.close()
    assert broker.disk.read("/a/replication-offset-checkpoint") == b"0\n1\norders 0 1\n"
    assert broker.disk.read("/b/replication-offset-checkpoint") == b"0\n1\norders 1 2\n"


def test_after_the_last_one_the_broker_is_told_to_end(broker: OneBroker) -> None:
    for path in ("/a", "/b", "/c"):
        broker.log_dirs.report_failure(path, f"{path} broke")
    assert broker.told == [
        "one failed",
        "one failed",
        "every log directory has failed: /a (/a broke); /b (/b broke); /c (/c broke)",
    ]


def test_records_that_cannot_even_be_looked_at_for_the_disk_take_it_offline(
    broker: OneBroker, batch: Batch
) -> None:
    """An append reads the segment's first batch where a truncation made it unknown."""
    lead(broker, 0)
    for _ in range(2):
        produce(broker, batch, 0)
        broker.replicas.end_of_pass()
    broker.partition().replica.log.truncate_to(1)
    broker.disk.fail_read_at(1, OSError(errno.EIO, "broken"))
    failed = produce(broker, batch, 0)
    broker.replicas.end_of_pass()
    assert [result.error for result in failed] == [ErrorCode.KAFKA_STORAGE_ERROR]
    assert roles(broker) == [Offline]


def test_a_damaged_batch_is_an_error_of_those_alone_who_read_it(
    broker: OneBroker, batch: Batch, journal: MemoryJournal
) -> None:
    lead(broker, 0)
    for _ in range(2):
        produce(broker, batch, 0)
        broker.replicas.end_of_pass()
    partition = broker.partition()
    log = partition.replica.log
    log.truncate_to(1)  # so that the batch before it is looked for in the file
    broker.disk.open(f"{log.directory}/{0:020d}.log").pwritev([b"\xff"], 8)
    asked = FetchPartition(("orders", 0), "orders", partition.topic_id, 0, 0, 1 << 20)
    answers: list[Any] = []
    for _ in range(2):
        broker.replicas.fetches.fetch(
            FetchParams(-1, -1, 0, 1, 1 << 20, Isolation.LOG_END),
            FetchContext([asked]),
            lambda reads: answers.extend(read.result for read in reads),
        )
    listed = broker.replicas.list_offset("orders", 0, 5, isolation=Isolation.LOG_END)
    assert [each.error for each in answers] == [ErrorCode.CORRUPT_MESSAGE] * 2
    assert listed.error is ErrorCode.CORRUPT_MESSAGE
    assert roles(broker) == [Leader]
    told = [event.why for event in journal.events if event.what == "records-damaged"]
    assert [("offset 0" in why, "time 5" in why) for why in told] == [(True, False), (False, True)]


def test_a_checkpoint_that_was_being_collected_is_not_written(
    broker: OneBroker, scheduler: ManualScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_LOGS_AT_A_TIME", 1)
    lead(broker, 0, 1, 2, 3)
    scheduler.advance(100)
    marks = HighWatermarks(broker.log_dirs, HostedPartitions(broker.metadata))
    workers = ScheduledWorkers(scheduler)
    written = checkpoints.Checkpoints(
        broker.log_dirs, marks, scheduler, workers, deletion_delay_ms=0
    )
    written.write_recovery_points()
    broker.log_dirs.report_failure("/a", "broken")
    scheduler.advance(100)
    name = "recovery-point-offset-checkpoint"
    assert [path for path in "abc" if broker.disk.exists(f"/{path}/{name}")] == ["b", "c"]
