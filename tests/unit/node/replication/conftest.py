"""Replicas for each test, and batches for them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from logquake.node.controller_link import ControllerRequests
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.seams.network import Endpoint
from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.dirs.opening import open_log_dir
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.messages.update_metadata import (
    UpdateMetadataRequest,
)
from logquake.wire.records import Record, encode_batch
from tests.doubles.journal import MemoryJournal
from tests.doubles.memory_disk import MemoryDisk
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import ScheduledWorkers
from tests.unit.node.replication.one_broker import BROKER_ID, OneBroker, _live


@pytest.fixture
def settings() -> ReplicationSettings:
    return ReplicationSettings()


@pytest.fixture
def paths() -> tuple[str, ...]:
    """log.dirs."""
    return ("/data",)


@pytest.fixture
def start(
    scheduler: ManualScheduler,
    network: ScriptedNetwork,
    journal: MemoryJournal,
    settings: ReplicationSettings,
    paths: tuple[str, ...],
) -> Callable[[MemoryDisk], OneBroker]:
    """Start broker 1 on what a disk holds."""
    controller = ControllerRequests(lambda: network.channel(Endpoint(9, "c", 1), "c"), scheduler)

    def make(disk: MemoryDisk) -> OneBroker:
        told: list[str] = []
        options = LogDirOptions(BROKER_ID, "a-cluster", 0, lambda _topic: TopicConfig().log)
        log_dirs = LogDirs([open_log_dir(disk, path, options) for path in paths])
        metadata = MetadataCache(PLAINTEXT)
        metadata.update(UpdateMetadataRequest(live_brokers=[_live(1), _live(2)]))
        replicas = ReplicaManager(
            BROKER_ID,
            settings,
            log_dirs=log_dirs,
            on_log_dir_failed=lambda: told.append("one failed"),
            on_last_log_dir_failed=told.append,
            scheduler=scheduler,
            workers=ScheduledWorkers(scheduler),
            network=network,
            journal=journal,
            random=Random(1),
            metadata=metadata,
            transaction_log=CoordinatorTopic(TRANSACTION_STATE_TOPIC, 1),
            broker_epoch=lambda: 50,
            controller=controller,
        )
        replicas.start()
        return OneBroker(replicas, disk, log_dirs, metadata, told)

    return make


@pytest.fixture
def broker(start: Callable[[MemoryDisk], OneBroker]) -> OneBroker:
    return start(MemoryDisk())


@pytest.fixture
def batch() -> Callable[..., memoryview]:
    """A produced batch of these values, as it lies in a receive buffer."""

    def make(*values: bytes, base_offset: int = 0, leader_epoch: int = -1) -> memoryview:
        records = [
            Record(base_offset + i, 1_700_000_000_000, None, value, ())
            for i, value in enumerate(values)
        ]
        return memoryview(encode_batch(records, base_offset=base_offset, leader_epoch=leader_epoch))

    return make
