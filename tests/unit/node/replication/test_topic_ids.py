"""Topic ids that come late (KIP-516): ReplicaManager.becomeLeaderOrFollower."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.uuids import ZERO_UUID
from tests.doubles.memory_disk import MemoryDisk
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler
from tests.unit.node.replication.one_broker import OneBroker

TOPIC_ID = b"orders".ljust(16, b"-")
OTHER_ID = b"others".ljust(16, b"-")
METADATA = "/data/orders-0/partition.metadata"


def refuse_metadata(_operation: str, path: str) -> None:
    if path.startswith(METADATA):
        raise OSError(5, "the disk does not answer")


def located(broker: OneBroker, topic_id: bytes) -> Any:
    return broker.replicas._hosted.locate_key((topic_id, 0), "orders")


def test_a_partition_hosted_without_a_topic_id_records_none(broker: OneBroker) -> None:
    assert broker.tell(0, leader=1, epoch=0, topic_id=ZERO_UUID) == ErrorCode.NONE
    assert broker.partition().topic_id == ZERO_UUID
    assert not broker.disk.exists(METADATA)


@pytest.mark.parametrize("epoch", [3, 4], ids=["within the epoch", "with a new epoch"])
@pytest.mark.parametrize("leader", [1, 2], ids=["leading", "following"])
def test_a_topic_id_that_comes_later_is_taken(
    start: Callable[[MemoryDisk], Any],
    network: ScriptedNetwork,
    scheduler: ManualScheduler,
    leader: int,
    epoch: int,
) -> None:
    disk = MemoryDisk()
    broker = start(disk)
    broker.tell(0, leader=leader, epoch=3, topic_id=ZERO_UUID)
    assert broker.tell(0, leader=leader, epoch=epoch, topic_id=TOPIC_ID) == ErrorCode.NONE
    partition = broker.partition()
    assert (partition.topic_id, partition.leader_epoch) == (TOPIC_ID, epoch)
    assert located(broker, TOPIC_ID) is partition
    if leader == 2:
        network.sent[-1].done(Disconnected("so that the next Fetch is sent"))
        scheduler.advance(1_000)
        assert [t.topic_id for t in network.sent[-1].request.topics] == [TOPIC_ID]
    scheduler.advance(10)  # a worker writes it
    again = start(disk.fork())
    assert again.tell(0, leader=1, epoch=9, topic_id=OTHER_ID) == ErrorCode.INCONSISTENT_TOPIC_ID
    assert again.tell(0, leader=1, epoch=9, topic_id=TOPIC_ID) == ErrorCode.NONE


def test_an_older_epoch_gives_no_topic_id(broker: OneBroker) -> None:
    broker.tell(0, leader=1, epoch=3, topic_id=ZERO_UUID)
    stale = ErrorCode.STALE_CONTROLLER_EPOCH
    assert broker.tell(0, leader=1, epoch=2, topic_id=TOPIC_ID) == stale
    assert broker.partition().topic_id == ZERO_UUID


def test_two_topic_ids_do_not_agree(broker: OneBroker) -> None:
    broker.tell(0, leader=1, epoch=3)
    assert broker.tell(0, leader=1, epoch=4, topic_id=OTHER_ID) == ErrorCode.INCONSISTENT_TOPIC_ID
    assert broker.partition().leader_epoch == 3


def test_without_a_topic_id_the_one_that_is_there_stays(broker: OneBroker) -> None:
    broker.tell(0, leader=1, epoch=3)
    assert broker.tell(0, leader=1, epoch=4, topic_id=ZERO_UUID) == ErrorCode.NONE
    assert broker.partition().topic_id == TOPIC_ID
    repeated = broker.tell(0, leader=1, epoch=4)
    assert repeated == ErrorCode.STALE_CONTROLLER_EPOCH


def test_a_disk_that_refuses_the_topic_id_takes_its_directory_offline(
    broker: OneBroker, scheduler: ManualScheduler
) -> None:
    broker.tell(0, leader=1, epoch=3, topic_id=ZERO_UUID)
    broker.disk.faults.watcher = refuse_metadata
    assert broker.tell(0, leader=1, epoch=3) == ErrorCode.NONE
    scheduler.advance(10)
    assert broker.tell(0, leader=1, epoch=4) == ErrorCode.KAFKA_STORAGE_ERROR
