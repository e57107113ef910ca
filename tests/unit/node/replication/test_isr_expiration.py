"""Only partitions whose followers have not everything are looked at as time passes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.node.replication.background.isr_expiration import IsrExpiration
from logquake.node.replication.partition import leading
from logquake.node.replication.partition.isr import PendingShrink
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.values import ProduceEntry
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import OneBroker

FOLLOWER = 2
MAX_LAG_MS = 30_000


@pytest.fixture
def partition(broker: OneBroker) -> Partition:
    broker.lead()
    found = broker.partition()
    assert found is not None
    return found


@pytest.fixture
def isr_expiration(partition: Partition, scheduler: ManualScheduler) -> IsrExpiration:
    check = IsrExpiration(scheduler)
    check.note(partition)
    return check


def fetch(partition: Partition, offset: int) -> None:
    leader = partition.leader
    assert leader is not None
    leading.record_follower_fetch(partition, leader, FOLLOWER, offset, 0, 70)


def append(broker: OneBroker, records: memoryview) -> None:
    entry = ProduceEntry("orders", 0, records)
    broker.replicas.appends.add([entry], 1, 1_000, lambda _results: None)
    broker.replicas.end_of_pass()


def test_a_partition_whose_followers_have_everything_is_left_alone(
    partition: Partition, isr_expiration: IsrExpiration
) -> None:
    fetch(partition, 0)
    isr_expiration.run()
    assert len(isr_expiration) == 0


def test_one_that_a_follower_has_not_all_of_is_looked_at_until_it_leaves(
    broker: OneBroker,
    partition: Partition,
    isr_expiration: IsrExpiration,
    scheduler: ManualScheduler,
    batch: Callable[..., memoryview],
) -> None:
    fetch(partition, 0)
    append(broker, batch(b"v"))
    isr_expiration.run()
    assert len(isr_expiration) == 1
    scheduler.advance(MAX_LAG_MS + 1)
    isr_expiration.run()
    assert partition.leader is not None
    assert isinstance(partition.leader.isr, PendingShrink)


def test_one_whose_follower_fell_back_is_looked_at_again(
    broker: OneBroker,
    partition: Partition,
    scheduler: ManualScheduler,
    batch: Callable[..., memoryview],
) -> None:
    """Its disk was replaced, say, and nobody has noticed."""
    append(broker, batch(b"v"))
    fetch(partition, 1)
    broker.replicas.end_of_pass()
    scheduler.advance(MAX_LAG_MS)
    fetch(partition, 0)
    broker.replicas.end_of_pass()
    scheduler.advance(2 * MAX_LAG_MS)
    assert partition.leader is not None
    assert isinstance(partition.leader.isr, PendingShrink)


def test_one_that_is_no_longer_led_is_forgotten(
    broker: OneBroker, partition: Partition, isr_expiration: IsrExpiration
) -> None:
    broker.assign(leader=2, epoch=1)
    isr_expiration.run()
    assert partition.leader is None
    assert len(isr_expiration) == 0
