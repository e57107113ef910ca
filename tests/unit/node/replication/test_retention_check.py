"""Old segments leave the logs of leaders and followers, by the clock."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from logquake.node.replication.partition.roles import Offline
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.replication.values import ProduceEntry
from logquake.storage.log_config import LogConfig
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import OneBroker

Batch = Callable[..., memoryview]
CONFIG = TopicConfig(
    log=LogConfig(segment_bytes=400, retention_bytes=400, file_delete_delay_ms=5_000)
)


@pytest.fixture
def settings() -> ReplicationSettings:
    return ReplicationSettings(retention_check_interval_ms=10_000, initial_task_delay_ms=1_000)


def fill(broker: OneBroker, batch: Batch, *, count: int = 4, index: int = 0) -> None:
    """Every record has a segment of its own."""
    for _ in range(count):
        entry = ProduceEntry("orders", index, batch(bytes(300)))
        broker.replicas.appends.add([entry], 1, 0, lambda _: None)
        broker.replicas.end_of_pass()


def logs(broker: OneBroker, index: int = 0) -> list[int]:
    names = broker.disk.list(f"/data/orders-{index}")
    return [int(name[:20]) for name in names if name.endswith(".log")]


def waiting(broker: OneBroker) -> list[str]:
    return [name for name in broker.disk.list("/data/orders-0") if name.endswith(".deleted")]


def test_a_leader_gives_up_old_segments_at_the_first_check(
    broker: OneBroker, batch: Batch, scheduler: ManualScheduler, journal: MemoryJournal
) -> None:
    broker.config = CONFIG
    broker.lead(isr=(1,))
    fill(broker, batch)
    scheduler.advance(999)
    assert logs(broker) == [0, 1, 2, 3]
    scheduler.advance(1)
    assert logs(broker) == [2, 3]
    assert broker.partition().replica.start == 2
    (event,) = journal.of("segments-deleted")
    assert (event.before, event.after) == (0, 2)
    assert "retention.bytes is 400" in event.why


def test_checks_go_on_at_their_interval(
    broker: OneBroker, batch: Batch, scheduler: ManualScheduler
) -> None:
    broker.config = CONFIG
    broker.lead(isr=(1,))
    scheduler.advance(1_000)
    fill(broker, batch)
    scheduler.advance(9_999)
    assert logs(broker) == [0, 1, 2, 3]
    scheduler.advance(1)
    assert logs(broker) == [2, 3]


def test_the_files_are_removed_after_their_delay(
    broker: OneBroker, batch: Batch, scheduler: ManualScheduler
) -> None:
    broker.config = CONFIG
    broker.lead(isr=(1,))
    fill(broker, batch)
    scheduler.advance(5_900)
    assert len(waiting(broker)) == 7  # log and indexes of two segments, a snapshot
    scheduler.advance(200)
    assert waiting(broker) == []


def test_what_is_not_committed_stays(
    broker: OneBroker, batch: Batch, scheduler: ManualScheduler
) -> None:
    broker.config = CONFIG
    broker.lead(isr=(1, 2))
    fill(broker, batch)
    scheduler.advance(1_000)
    assert logs(broker) == [0, 1, 2, 3]


def test_a_follower_keeps_to_its_own_count(
    broker: OneBroker, batch: Batch, scheduler: ManualScheduler
) -> None:
    broker.config = CONFIG
    broker.assign(leader=2)
    replica = broker.partition().replica
    for offset in range(4):
        replica.append_from_leader(batch(bytes(300), base_offset=offset, leader_epoch=0), 0)
    replica.advance_to(4)
    scheduler.advance(1_000)
    assert logs(broker) == [2, 3]


def test_a_disk_that_fails_takes_its_directory_offline(
    broker: OneBroker, batch: Batch, scheduler: ManualScheduler
) -> None:
    broker.config = CONFIG
    broker.lead(isr=(1,))
    scheduler.advance(1_000)
    fill(broker, batch)
    scheduler.advance(9_990)  # the syncs of what rolled are through
    broker.disk.fail_at(1, OSError(errno.EIO, "broken"))
    scheduler.advance(10)
    assert isinstance(broker.partition().role, Offline)
    assert list(broker.log_dirs.offline) == ["/data"]


def test_many_partitions_are_looked_at_a_few_at_a_time(
    broker: OneBroker, batch: Batch, scheduler: ManualScheduler
) -> None:
    broker.config = CONFIG
    for index in range(150):
        broker.lead(index, isr=(1,))
        fill(broker, batch, index=index, count=3)
    scheduler.advance(1_000)
    assert {tuple(logs(broker, index)) for index in range(150)} == {(1, 2)}
