"""One broker's replicas for each test, and a coordinator of words over them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.metadata.coordinators import CoordinatorTopic
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler
from tests.doubles.workers import HeldWorkers
from tests.unit.node.coordinators.words import WordCoordinator, Words
from tests.unit.node.replication.conftest import broker, paths, settings, start
from tests.unit.node.replication.one_broker import OneBroker

__all__ = ["broker", "paths", "settings", "start"]


@pytest.fixture
def workers() -> HeldWorkers:
    """Those that load logs."""
    return HeldWorkers()


@pytest.fixture
def coordinate(
    broker: OneBroker, scheduler: ManualScheduler, workers: HeldWorkers, journal: MemoryJournal
) -> Callable[[int], WordCoordinator]:
    """Have words coordinated, loaded in chunks of so many bytes."""

    def begin(load_chunk_bytes: int = 1_000_000) -> WordCoordinator:
        coordinator = WordCoordinator()
        coordinator.partitions = CoordinatorPartitions[Words](
            CoordinatorTopic("orders", 1),
            coordinator,
            broker.replicas.appends,
            scheduler,
            workers,
            journal,
            load_chunk_bytes=load_chunk_bytes,
        )
        broker.replicas.watch("orders", coordinator.partitions.note)
        return coordinator

    return begin


@pytest.fixture
def words(coordinate: Callable[[], WordCoordinator]) -> WordCoordinator:
    return coordinate()
