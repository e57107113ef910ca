"""What is done beside the serving: syncs, checkpoints, forgetting idle producers."""

from __future__ import annotations

import errno
import gc
import random
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from logquake.node.replication.partition.roles import Leader, Offline
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.replication.values import ProduceEntry
from logquake.storage.dirs.log_dir import LogDir, LogDirOptions
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.errors import StorageError
from logquake.storage.log.log import Log
from logquake.storage.log_config import NEVER, LogConfig
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from logquake.wire.records import Record, encode_batch
from tests.doubles.journal import MemoryJournal
from tests.doubles.memory_disk import Unsynced
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import OneBroker

Batch = Callable[..., memoryview]
CONFIG = LogConfig(segment_bytes=400, producer_expiration_ms=700_000)
RECOVERY_POINTS = "/data/recovery-point-offset-checkpoint"


@pytest.fixture
def settings() -> ReplicationSettings:
    return ReplicationSettings(log_flush_scheduler_interval_ms=1_000, initial_task_delay_ms=20_000)


@pytest.fixture
def log(broker: OneBroker, batch: Batch) -> Log:
    """A log that has just rolled: offset 0 and 1 in segments of their own."""
    broker.config = TopicConfig(log=CONFIG)
    broker.lead(isr=(1,))
    broker.replicas.end_of_pass()
    write(broker, batch(bytes(300)))
    write(broker, batch(bytes(300)))
    found: Log = partition(broker).replica.log
    return found


def partition(broker: OneBroker) -> Any:
    return broker.partition()


def write(broker: OneBroker, records: memoryview) -> None:
    broker.replicas.appends.add([ProduceEntry("orders", 0, records)], 1, 0, lambda _: None)
    broker.replicas.end_of_pass()


def begin_sync(scheduler: ManualScheduler) -> None:
    """The files are collected, and the worker has not begun."""
    scheduler.advance(0)


def reopen(broker: OneBroker) -> LogDir:
    options = LogDirOptions(1, "a-cluster", 0, lambda _topic: CONFIG)
    return open_log_dir(broker.disk, "/data", options)


class TestRolledSegments:
    def test_they_are_synced_after_the_append_that_rolled(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        assert log.recovery_point == 0
        broker.disk.faults.keep_history = True
        scheduler.advance(10)
        assert log.recovery_point == 1
        assert "sync /data/orders-0/00000000000000000000.log" in broker.disk.faults.history
        assert "sync /data/orders-0/00000000000000000001.log" not in broker.disk.faults.history

    @pytest.mark.usefixtures("log")
    def test_they_survive_a_loss_of_power(
        self, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        scheduler.advance(10)
        for seed in range(10):
            broker.disk.crash(Unsynced.JOURNALED, random.Random(seed))
            again = reopen(broker).log("orders", 0)
            assert again is not None
            assert again.end_offset >= 1

    def test_a_roll_during_a_sync_is_followed_by_another(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker, batch: Batch
    ) -> None:
        begin_sync(scheduler)
        write(broker, batch(bytes(300)))
        scheduler.advance(10)
        assert log.recovery_point == 2

    @pytest.mark.parametrize(
        "settings", [ReplicationSettings(log_flush_scheduler_interval_ms=NEVER)]
    )
    def test_who_was_synced_and_deleted_is_forgotten(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        scheduler.advance(10)
        assert log.recovery_point == 1
        gone = weakref.ref(partition(broker))
        broker.delete([0])
        broker.replicas.end_of_pass()
        scheduler.advance(120_000)
        gc.collect()
        assert gone() is None

    def test_what_was_truncated_meanwhile_does_not_count_as_synced(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        begin_sync(scheduler)
        log.truncate_to(0)
        scheduler.advance(10)
        assert log.recovery_point == 0
        assert isinstance(partition(broker).role, Leader)

    def test_a_partition_deleted_meanwhile_is_of_no_interest(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker, journal: MemoryJournal
    ) -> None:
        begin_sync(scheduler)
        state = StopReplicaPartitionState(leader_epoch=-2, delete_partition=True)
        topic = StopReplicaTopicState(topic_name="orders", partition_states=[state])
        broker.replicas.state_changes.stop_replicas(
            StopReplicaRequest(controller_epoch=1, topic_states=[topic]), lambda _answer: None
        )
        assert log.is_closed
        journal.events.clear()
        scheduler.advance(10)
        assert journal.events == []

    def test_a_follower_syncs_too(
        self, scheduler: ManualScheduler, broker: OneBroker, batch: Batch
    ) -> None:
        broker.config = TopicConfig(log=CONFIG)
        broker.assign(leader=2)
        replica = partition(broker).replica
        for offset in range(3):
            replica.append_from_leader(batch(bytes(300), base_offset=offset, leader_epoch=0), 0)
        scheduler.advance(10)
        assert replica.log.recovery_point == 2


class TestFailingSyncs:
    def test_the_partition_goes_offline(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker, journal: MemoryJournal
    ) -> None:
        begin_sync(scheduler)
        broker.disk.fail_at(1, OSError(errno.EIO, "the platter is gone"))
        scheduler.advance(10)
        assert isinstance(partition(broker).role, Offline)
        event, failed = journal.events[-2:]
        assert (event.what, event.subject, event.after) == ("role-changed", "orders-0", "offline")
        assert (failed.what, failed.subject) == ("log-dir-failed", "/data")
        assert event.why.startswith(failed.why)
        assert "the platter is gone" in event.why
        assert log.recovery_point == 0

    def test_a_success_after_it_is_not_believed(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        """After an error the system forgets what it could not write."""
        begin_sync(scheduler)
        broker.disk.fail_at(1, OSError(errno.EIO, "the platter is gone"))
        scheduler.advance(10)
        with pytest.raises(StorageError, match="an earlier sync failed"):
            log.sync()
        broker.replicas.close()
        broker.log_dirs.close(clean=True)
        assert not reopen(broker).was_clean

    def test_a_sync_that_ended_well_meanwhile_is_taken_back(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        """Whichever of two syncs is told of the error: neither can vouch for the pages."""
        begin_sync(scheduler)
        log.sync()
        assert log.recovery_point == 2
        broker.disk.fail_at(1, OSError(errno.EIO, "the platter is gone"))
        scheduler.advance(10)
        assert log.recovery_point == 0
        assert broker.disk.read(RECOVERY_POINTS).endswith(b"orders 0 0\n")


class TestTimers:
    def test_logs_are_synced_by_age(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        broker.replicas.update_topic_config(
            "orders", TopicConfig(log=replace(CONFIG, flush_ms=23_000))
        )
        scheduler.advance(22_900)
        assert log.recovery_point == 1
        scheduler.advance(1_200)
        assert log.recovery_point == 2

    def test_without_flush_ms_the_active_segment_is_left_alone(
        self, log: Log, scheduler: ManualScheduler
    ) -> None:
        scheduler.advance(100_000)
        assert log.recovery_point == 1

    @pytest.mark.usefixtures("log")
    def test_recovery_points_are_written_some_time_after_the_start_and_every_minute(
        self, scheduler: ManualScheduler, broker: OneBroker, batch: Batch
    ) -> None:
        scheduler.advance(19_990)
        assert not broker.disk.exists(RECOVERY_POINTS)
        scheduler.advance(20)
        assert broker.disk.read(RECOVERY_POINTS) == b"0\n1\norders 0 1\n"
        write(broker, batch(bytes(300)))
        scheduler.advance(59_000)
        assert broker.disk.read(RECOVERY_POINTS) == b"0\n1\norders 0 1\n"
        scheduler.advance(1_000)
        assert broker.disk.read(RECOVERY_POINTS) == b"0\n1\norders 0 2\n"

    @pytest.mark.usefixtures("log")
    def test_a_checkpoint_that_has_not_changed_is_not_written(
        self, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        scheduler.advance(60_010)
        broker.disk.faults.keep_history = True
        scheduler.advance(60_000)
        assert [line for line in broker.disk.faults.history if "recovery-point" in line] == []

    @pytest.mark.usefixtures("log")
    def test_a_checkpoint_that_cannot_be_written_fails_its_directory(
        self, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        scheduler.advance(19_990)
        broker.disk.fail_at(1, OSError(errno.ENOSPC, "no room"))
        scheduler.advance(20)
        assert broker.log_dirs.offline == {"/data": "/data: [Errno 28] no room"}
        assert isinstance(partition(broker).role, Offline)

    @pytest.mark.usefixtures("log")
    def test_a_truncation_outruns_the_checkpoint_that_is_being_written(
        self, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        scheduler.advance(20_000)  # collected, and the worker has not begun
        partition(broker).replica.log.truncate_to(0)
        assert broker.disk.read(RECOVERY_POINTS) == b"0\n1\norders 0 0\n"
        scheduler.advance(10)
        assert broker.disk.read(RECOVERY_POINTS) == b"0\n1\norders 0 0\n"

    @pytest.mark.usefixtures("log")
    def test_one_write_of_a_checkpoint_is_under_way_at_most(
        self, scheduler: ManualScheduler, broker: OneBroker, batch: Batch
    ) -> None:
        scheduler.advance(5_000)
        write(broker, batch(bytes(300)))
        broker.replicas._background.checkpoints.write_high_watermarks()
        scheduler.advance(10)
        written = broker.disk.read("/data/replication-offset-checkpoint")
        assert written == b"0\n1\norders 0 2\n"
        scheduler.advance(5_000)
        written = broker.disk.read("/data/replication-offset-checkpoint")
        assert written == b"0\n1\norders 0 3\n"

    def test_idle_producers_are_forgotten(
        self, log: Log, scheduler: ManualScheduler, broker: OneBroker
    ) -> None:
        record = Record(0, scheduler.wall_ms(), None, b"v", ())
        write(
            broker,
            memoryview(encode_batch([record], producer_id=5, producer_epoch=0, base_sequence=0)),
        )
        scheduler.advance(600_000)
        assert log.producers.get(5) is not None
        scheduler.advance(600_000)
        assert log.producers.get(5) is None
