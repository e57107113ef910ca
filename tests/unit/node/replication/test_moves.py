"""Replicas move between directories while they are written, truncated, deleted, and restarted."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.replication.moves.alignment import align, position
from logquake.node.replication.moves.copy_step import CopyStep, Gate
from logquake.node.replication.partition.roles import Leader, Offline
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.replication.values import ProduceEntry, ProduceResult
from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from logquake.wire.records import Codec, Record, encode_message_set
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.journal import MemoryJournal
from tests.doubles.memory_disk import MemoryDisk
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import OneBroker

Batch = Callable[..., memoryview]
PIECE_BYTES = 3_000
LOG = LogConfig(segment_bytes=4_000)


@pytest.fixture
def paths() -> tuple[str, ...]:
    return ("/a", "/b", "/c")


@pytest.fixture
def settings() -> ReplicationSettings:
    return ReplicationSettings(
        replica_fetch_max_bytes=PIECE_BYTES,
        move_threads=1,
        topic_defaults=TopicConfig(log=LOG),
    )


@pytest.fixture
def filled(broker: OneBroker, batch: Batch) -> Any:
    """orders-0 in /a, with 30 batches in several segments."""
    broker.config = TopicConfig(log=LOG)
    broker.lead(isr=(1,))
    for number in range(30):
        produce(broker, batch, number)
    return broker


def partition(broker: OneBroker, index: int = 0) -> Any:
    return broker.partition(index)


def produce(broker: OneBroker, batch: Batch, number: int) -> list[ProduceResult]:
    results: list[ProduceResult] = []
    entry = ProduceEntry("orders", 0, batch(b"%05d" % number + bytes(300)))
    broker.replicas.appends.add([entry], 1, 60_000, results.extend)
    broker.replicas.end_of_pass()
    return results


def move(broker: OneBroker, path: str, index: int = 0) -> ErrorCode:
    code: ErrorCode = broker.replicas.moves.alter("orders", index, path)
    return code


def content(log: Log) -> bytes:
    found, offset = b"", log.start_offset
    while offset < log.written_end_offset:
        found += log.read(offset, 1 << 20, up_to=log.written_end_offset).read()
        offset = list(log.headers(offset))[-1].next_offset
    return found


def where(broker: OneBroker, index: int = 0) -> str:
    directory: str = partition(broker, index).replica.log.directory
    return directory


def told(journal: MemoryJournal, what: str) -> list[Any]:
    return journal.of(what)


class TestMoving:
    def test_the_log_is_elsewhere_and_the_same(
        self, filled: OneBroker, scheduler: ManualScheduler, journal: MemoryJournal
    ) -> None:
        log = partition(filled).replica.log
        before, epochs = content(log), log.epochs.entries
        mark = partition(filled).replica.high_watermark
        assert move(filled, "/b") is ErrorCode.NONE
        scheduler.advance(1_000)
        moved = partition(filled).replica.log
        assert where(filled) == "/b/orders-0"
        assert content(moved) == before
        assert (moved.epochs.entries, moved.config) == (epochs, LOG)
        assert partition(filled).replica.high_watermark == mark
        assert log.is_closed
        (event,) = told(journal, "replica-moved")
        assert (event.subject, event.before, event.after) == ("orders-0", "/a", "/b")

    def test_nothing_is_copied_on_the_loop_at_first(self, filled: OneBroker) -> None:
        move(filled, "/b")
        assert filled.future().written_end_offset == 0
        assert where(filled) == "/a/orders-0"

    def test_it_takes_a_piece_at_a_time(
        self, filled: OneBroker, scheduler: ManualScheduler
    ) -> None:
        move(filled, "/b")
        scheduler.advance(2)
        future = filled.future()
        assert 0 < future.size <= PIECE_BYTES

    def test_it_ends_under_load_and_loses_nothing(
        self, filled: OneBroker, batch: Batch, scheduler: ManualScheduler
    ) -> None:
        move(filled, "/b")
        number = 30
        while where(filled) == "/a/orders-0":
            for _ in range(2):
                (result,) = produce(filled, batch, number)
                assert (result.error, result.base_offset) == (ErrorCode.NONE, number)
                number += 1
            scheduler.advance(1)
            assert number < 3_000, "the move never caught up"
        (result,) = produce(filled, batch, number)
        assert result.base_offset == number
        headers = list(partition(filled).replica.log.headers(0))
        assert [header.base_offset for header in headers] == list(range(number + 1))

    def test_what_is_staged_when_it_swaps_is_written_and_acked(
        self, filled: OneBroker, batch: Batch, scheduler: ManualScheduler
    ) -> None:
        results: list[ProduceResult] = []
        move(filled, "/b")
        while where(filled) == "/a/orders-0":
            entry = ProduceEntry("orders", 0, batch(b"staged"))
            filled.replicas.appends.add([entry], 1, 60_000, results.extend)
            scheduler.advance(1)  # in the midst of the pass
            filled.replicas.end_of_pass()
        assert {result.error for result in results} == {ErrorCode.NONE}
        assert [result.base_offset for result in results] == list(range(30, 30 + len(results)))
        assert partition(filled).replica.end == 30 + len(results)

    def test_what_was_safe_stays_safe(self, filled: OneBroker, scheduler: ManualScheduler) -> None:
        """The copy is synced before it is all that there is."""
        partition(filled).replica.log.sync()
        move(filled, "/b")
        scheduler.advance(1_000)
        assert partition(filled).replica.log.recovery_point == 30

    def test_the_old_files_go_after_a_while(
        self, filled: OneBroker, scheduler: ManualScheduler
    ) -> None:
        move(filled, "/b")
        scheduler.advance(1_000)
        assert [name for name in filled.disk.list("/a") if name.endswith("-delete")]
        scheduler.advance(61_000)
        assert [name for name in filled.disk.list("/a") if name.startswith("orders")] == []

    def test_high_watermarks_go_along(self, filled: OneBroker, scheduler: ManualScheduler) -> None:
        move(filled, "/b")
        scheduler.advance(10_000)
        assert filled.disk.read("/b/replication-offset-checkpoint") == b"0\n1\norders 0 30\n"
        assert filled.disk.read("/a/replication-offset-checkpoint") == b"0\n0\n"

    def test_a_log_that_lost_its_beginning(
        self, filled: OneBroker, scheduler: ManualScheduler
    ) -> None:
        partition(filled).replica.log.raise_start(7, 30)
        move(filled, "/b")
        scheduler.advance(1_000)
        moved = partition(filled).replica.log
        assert (where(filled), moved.start_offset) == ("/b/orders-0", 7)

    def test_an_epoch_without_records_goes_along(
        self, filled: OneBroker, scheduler: ManualScheduler
    ) -> None:
        move(filled, "/b")
        filled.lead(epoch=4, isr=(1,))
        scheduler.advance(1_000)
        assert partition(filled).replica.log.epochs.entries == ((0, 0), (4, 30))

    def test_rolled_segments_are_synced_there_too(
        self, filled: OneBroker, batch: Batch, scheduler: ManualScheduler
    ) -> None:
        move(filled, "/b")
        scheduler.advance(1_000)
        for number in range(40):
            produce(filled, batch, number)
        scheduler.advance(100)
        assert partition(filled).replica.log.recovery_point > 30

    def test_it_is_not_compacted_meanwhile(
        self, filled: OneBroker, scheduler: ManualScheduler
    ) -> None:
        states = filled.replicas.cleaner._candidates.states
        move(filled, "/b")
        assert states.get(TopicPartition("orders", 0)) is not None
        scheduler.advance(1_000)
        assert states.get(TopicPartition("orders", 0)) is None


class TestThrottle:
    @pytest.fixture
    def settings(self) -> ReplicationSettings:
        return ReplicationSettings(
            replica_fetch_max_bytes=PIECE_BYTES, move_max_bytes_per_second=5_000
        )

    def test_copying_takes_its_time(self, filled: OneBroker, scheduler: ManualScheduler) -> None:
        size = partition(filled).replica.log.size
        move(filled, "/b")
        scheduler.advance(size / 5 - 600)
        assert where(filled) == "/a/orders-0"
        scheduler.advance(1_000)
        assert where(filled) == "/b/orders-0"


class TestALogThatStartsWithinABatch:
    @pytest.fixture
    def follower(self, broker: OneBroker) -> Any:
        broker.config = TopicConfig(log=LOG)
        broker.assign(leader=2)
        return broker

    def moved(self, broker: OneBroker, scheduler: ManualScheduler, start: int) -> Log:
        """Once it starts there."""
        replica = partition(broker).replica
        replica.advance_to(replica.end)
        replica.raise_start(start, "a test")
        move(broker, "/b")
        scheduler.advance(1_000)
        assert where(broker) == "/b/orders-0"
        log: Log = partition(broker).replica.log
        return log

    def test_is_copied_with_the_whole_batch(
        self, follower: Any, batch: Batch, scheduler: ManualScheduler
    ) -> None:
        replica = partition(follower).replica
        for first in (0, 10, 20):
            values = [bytes(10)] * 10
            replica.append_from_leader(batch(*values, base_offset=first, leader_epoch=0), 0)
        before = content(replica.log)
        log = self.moved(follower, scheduler, 15)
        assert (log.start_offset, log.written_end_offset) == (15, 30)
        assert before.endswith(content(log))
        assert [header.base_offset for header in log.headers(0)] == [10, 20]

    def test_is_copied_with_the_whole_wrapper(
        self, follower: Any, scheduler: ManualScheduler
    ) -> None:
        replica = partition(follower).replica
        for first in (0, 10, 20):
            old = [Record(offset, 0, None, b"old", ()) for offset in range(first, first + 10)]
            wrapper = bytearray(encode_message_set(old, 1, codec=Codec.GZIP))
            replica.append_from_leader(memoryview(wrapper), 0)
        before = content(replica.log)
        log = self.moved(follower, scheduler, 15)
        assert (log.start_offset, log.written_end_offset) == (15, 30)
        assert before.endswith(content(log))


class TestSeveral:
    def test_one_at_a_time_in_order(self, broker: OneBroker, scheduler: ManualScheduler) -> None:
        for index in (3, 0):  # in /a and /b
            broker.lead(index, isr=(1,))
        assert [move(broker, "/c", index) for index in (3, 0)] == [ErrorCode.NONE] * 2
        running = [m.is_running for m in broker.replicas.moves._moves.values()]
        assert running == [True, False]
        scheduler.advance(1_000)
        assert [where(broker, index) for index in (0, 3)] == ["/c/orders-0", "/c/orders-3"]


class TestTruncation:
    def test_of_a_log_whose_end_was_copied_already(
        self, filled: OneBroker, batch: Batch, scheduler: ManualScheduler
    ) -> None:
        move(filled, "/b")
        while filled.future().written_end_offset < 20:
            scheduler.advance(1)
        filled.assign(leader=2, epoch=3)
        replica = partition(filled).replica
        replica.truncate_to(10, "a test")
        for offset in range(10, 40):
            records = batch(b"other" + bytes(300), base_offset=offset, leader_epoch=3)
            replica.append_from_leader(records, 0)
        before = content(replica.log)
        scheduler.advance(1_000)
        assert where(filled) == "/b/orders-0"
        assert content(partition(filled).replica.log) == before

    def test_while_a_piece_is_read(self, filled: OneBroker) -> None:
        """Bytes of two times must not be joined, even where they fit."""
        source, future = begin(filled)
        piece = source.read(0, 1 << 20, up_to=30)
        step = CopyStep(source, future, piece, source.cuts, 0, Gate())
        source.truncate_to(0)
        assert step.run() == 0
        assert future.written_end_offset == 0

    def test_without_leader_epochs_only_what_is_committed_is_trusted(
        self, filled: OneBroker
    ) -> None:
        source, future = begin(filled)
        copy_all(source, future)
        source.epochs.clear()
        future.epochs.clear()
        align(source, future, 12, was_cut=False)
        assert future.written_end_offset == 30
        align(source, future, 12, was_cut=True)
        assert future.written_end_offset == 12

    @pytest.mark.parametrize("had_records", [False, True])
    def test_a_log_that_began_anew_with_the_batch_that_its_start_is_within(
        self, filled: OneBroker, batch: Batch, had_records: bool
    ) -> None:
        """A follower does that whose leader's log starts there (ReplicaLog.append_from_leader)."""
        source, future = begin(filled)
        if had_records:
            source.truncate_to(25)
        else:
            source.truncate_fully_and_start_at(25)
        align(source, future, 25, was_cut=True)
        copy_all(source, future)
        source.truncate_fully_and_start_at(0)
        source.stage_as_follower(batch(*[b"v"] * 50, leader_epoch=0))
        source.commit()
        source.raise_start(25, 50)
        align(source, future, 50, was_cut=True)
        copy_all(source, future)
        assert future.written_end_offset == 50

    def test_a_copy_with_nothing_in_common_starts_over(
        self, filled: OneBroker, batch: Batch
    ) -> None:
        source, future = begin(filled)
        records = batch(b"stranger", base_offset=0, leader_epoch=9)
        future.stage_as_follower(records)
        future.commit()
        align(source, future, 1, was_cut=True)
        assert future.written_end_offset == 0


def begin(broker: OneBroker) -> tuple[Log, Log]:
    source = partition(broker).replica.log
    broker.log_dirs.prefer("orders", 0, "/b")
    return source, broker.log_dirs.create_future("orders", 0, source)


def copy_all(source: Log, future: Log) -> None:
    while future.written_end_offset < source.written_end_offset:
        end = source.written_end_offset
        piece = source.read(position(source, future), 1 << 20, up_to=end)
        assert CopyStep(source, future, piece, source.cuts, 0, Gate()).run() > 0


class TestCallingOff:
    def test_another_directory_takes_over(
        self, filled: OneBroker, scheduler: ManualScheduler
    ) -> None:
        move(filled, "/b")
        scheduler.advance(3)
        assert move(filled, "/c") is ErrorCode.NONE
        scheduler.advance(1_000)
        assert where(filled) == "/c/orders-0"
        assert [name for name in filled.disk.list("/b") if name.endswith("-delete")]

    def test_the_present_directory_ends_the_move(
        self, filled: OneBroker, scheduler: ManualScheduler
    ) -> None:
        move(filled, "/b")
        scheduler.advance(3)
        assert move(filled, "/a") is ErrorCode.NONE
        scheduler.advance(1_000)
        assert where(filled) == "/a/orders-0"
        assert filled.log_dirs.future("orders", 0) is None

    def test_asked_twice_it_goes_on(
        self, filled: OneBroker, scheduler: ManualScheduler, journal: MemoryJournal
    ) -> None:
        move(filled, "/b")
        scheduler.advance(3)
        assert move(filled, "/b") is ErrorCode.NONE
        assert len(told(journal, "replica-move-begun")) == 1

    def test_a_late_step_leaves_the_future_alone(self, filled: OneBroker) -> None:
        source, future = begin(filled)
        gate = Gate()
        step = CopyStep(source, future, source.read(0, 1 << 20, up_to=30), source.cuts, 0, gate)
        gate.close()
        assert step.run() == 0
        assert future.written_end_offset == 0

    @pytest.mark.parametrize("delete", [True, False])
    def test_a_stopped_replica_moves_no_more(
        self, filled: OneBroker, scheduler: ManualScheduler, delete: bool
    ) -> None:
        move(filled, "/b")
        scheduler.advance(3)
        state = StopReplicaPartitionState(leader_epoch=-2, delete_partition=delete)
        topic = StopReplicaTopicState(topic_name="orders", partition_states=[state])
        filled.replicas.state_changes.stop_replicas(
            StopReplicaRequest(controller_epoch=1, topic_states=[topic]), lambda _answer: None
        )
        scheduler.advance(1_000)
        assert (filled.log_dirs.future("orders", 0) is None) == delete
        assert (filled.log_dirs.log("orders", 0) is None) == delete
        if not delete:
            filled.lead(epoch=5, isr=(1,))
            scheduler.advance(1_000)
            assert where(filled) == "/b/orders-0"


class TestFailures:
    def test_of_the_new_directory(self, filled: OneBroker, scheduler: ManualScheduler) -> None:
        move(filled, "/b")
        scheduler.advance(3)
        break_disk(filled, "/b/")
        scheduler.advance(1_000)
        assert list(filled.log_dirs.offline) == ["/b"]
        assert isinstance(partition(filled).role, Leader)
        assert partition(filled).future is None
        assert move(filled, "/c") is ErrorCode.KAFKA_STORAGE_ERROR  # as Kafka: the log may be in /b

    def test_of_the_old_directory(self, filled: OneBroker, scheduler: ManualScheduler) -> None:
        move(filled, "/b")
        scheduler.advance(3)
        filled.log_dirs.report_failure("/a", "broken")
        scheduler.advance(1_000)
        assert isinstance(partition(filled).role, Offline)
        assert filled.log_dirs.future("orders", 0) is not None
        assert move(filled, "/c") is ErrorCode.KAFKA_STORAGE_ERROR

    def test_of_a_sync(self, filled: OneBroker, scheduler: ManualScheduler) -> None:
        break_disk(filled, "/b/", operations=("sync",))
        move(filled, "/b")
        scheduler.advance(1_000)
        assert list(filled.log_dirs.offline) == ["/b"]
        assert where(filled) == "/a/orders-0"

    def test_of_the_swap_itself(
        self, filled: OneBroker, scheduler: ManualScheduler, batch: Batch
    ) -> None:
        break_disk(filled, "/b/", operations=("rename",), but="tmp")
        move(filled, "/b")
        scheduler.advance(1_000)
        assert list(filled.log_dirs.offline) == ["/b"]
        assert where(filled) == "/a/orders-0"
        (result,) = produce(filled, batch, 30)
        assert (result.error, result.base_offset) == (ErrorCode.NONE, 30)

    def test_damage_is_told_and_the_log_stays_where_it_is(
        self, filled: OneBroker, scheduler: ManualScheduler, journal: MemoryJournal
    ) -> None:
        log = filled.disk.open("/a/orders-0/00000000000000000000.log")
        log.pwritev([b"\xff"], 700)
        move(filled, "/b")
        scheduler.advance(3_000)
        assert where(filled) == "/a/orders-0"
        assert told(journal, "replica-move-stuck")


class TestRefusals:
    def test_unknown_directories_and_names(self, filled: OneBroker) -> None:
        assert move(filled, "/elsewhere") is ErrorCode.LOG_DIR_NOT_FOUND
        alter = filled.replicas.moves.alter
        assert alter("x" * 249, 0, "/b") is ErrorCode.INVALID_TOPIC_EXCEPTION
        assert alter("nobody-knows", 0, "/b") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def test_an_offline_directory(self, filled: OneBroker) -> None:
        filled.log_dirs.report_failure("/b", "broken")
        assert move(filled, "/b") is ErrorCode.KAFKA_STORAGE_ERROR

    def test_a_replica_that_comes_later_is_made_there(self, broker: OneBroker) -> None:
        assert move(broker, "/c", 8) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        broker.learn_of(8)
        assert move(broker, "/c", 8) is ErrorCode.REPLICA_NOT_AVAILABLE
        broker.lead(8, isr=(1,))
        assert where(broker, 8) == "/c/orders-8"


class TestRestart:
    def test_the_copy_goes_on_where_it_was(
        self, filled: OneBroker, scheduler: ManualScheduler, start: Callable[[MemoryDisk], Any]
    ) -> None:
        move(filled, "/b")
        while filled.future().written_end_offset < 12:
            scheduler.advance(1)
        before = content(partition(filled).replica.log)
        filled.replicas.close()
        filled.log_dirs.close(clean=True)
        again = start(filled.disk)
        again.config = TopicConfig(log=LOG)
        future = again.log_dirs.future("orders", 0)
        assert future.written_end_offset >= 12
        again.lead(epoch=1, isr=(1,))
        scheduler.advance(1_000)
        assert partition(again).replica.log is future
        assert content(future) == before


def break_disk(
    broker: OneBroker, prefix: str, *, operations: tuple[str, ...] = (), but: str | None = None
) -> None:
    def refuse(operation: str, path: str) -> None:
        hit = path.startswith(prefix) and (not operations or operation in operations)
        if hit and (but is None or but not in path):
            raise OSError(errno.EIO, "broken")

    broker.disk.faults.watcher = refuse


def test_a_future_of_an_earlier_topic_is_removed(
    paths: tuple[str, ...], start: Callable[[MemoryDisk], Any], scheduler: ManualScheduler
) -> None:
    disk = MemoryDisk()
    options = LogDirOptions(1, "a-cluster", 0, lambda _topic: LogConfig())
    dirs = LogDirs([open_log_dir(disk, path, options) for path in paths])
    earlier = dirs.create_log("orders", 0, b"e" * 16, LogConfig(), is_new=True)
    dirs.prefer("orders", 0, "/b")
    dirs.create_future("orders", 0, earlier)
    dirs.online["/a"].delete_log("orders", 0)
    dirs.online["/a"].deleted.remove(dirs.deleted()[0])
    dirs.close(clean=True)
    again = start(disk)
    again.lead(isr=(1,))
    scheduler.advance(1_000)
    assert again.log_dirs.future("orders", 0) is None
    assert where(again) == "/a/orders-0"
