"""The parts of the transaction coordinator and how they hang together."""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.decisions import Decisions
from logquake.node.coordinators.transactions.deleted_topics import DeletedTopics
from logquake.node.coordinators.transactions.marker_sender import MarkerSender
from logquake.node.coordinators.transactions.partition_state import PartitionState
from logquake.node.coordinators.transactions.settings import TransactionSettings
from logquake.node.coordinators.transactions.upkeep import Upkeep
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.outside import Outside
from logquake.node.replication.manager import ReplicaManager
from logquake.zk.operations import Session


def compose_transactions(
    broker_id: int,
    topic: CoordinatorTopic,
    settings: TransactionSettings,
    outside: Outside,
    session: Session,
    metadata: MetadataCache,
    replicas: ReplicaManager,
    next_producer_id: Callable[[Callable[[int | None], None]], None],
) -> TransactionCoordinator:
    """For next_producer_id see TransactionCoordinator."""
    scheduler, journal = outside.scheduler, outside.journal
    deleted = DeletedTopics(session)
    markers = MarkerSender(broker_id, metadata, deleted, outside.network, scheduler, journal)
    decisions = Decisions(scheduler, markers)
    upkeep = Upkeep(settings, decisions, scheduler, journal)
    partitions = CoordinatorPartitions[PartitionState](
        topic,
        upkeep,
        replicas.appends,
        scheduler,
        outside.workers,
        journal,
        load_chunk_bytes=settings.load_buffer_bytes,
    )

    replicas.watch(topic.name, partitions.note)
    return TransactionCoordinator(
        settings, partitions, decisions, upkeep, scheduler, next_producer_id
    )
