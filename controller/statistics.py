"""Numbers about the cluster that only its controller knows, for metrics; zeros out of office."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.controller.rules.partitions import PartitionStatus
from logquake.controller.term import Term


@dataclass(frozen=True, slots=True)
class ControllerStatistics:
    """Fields are Kafka's metrics of KafkaController and ControllerStats, by name."""

    active_controller_count: int = 0
    active_broker_count: int = 0
    global_topic_count: int = 0
    global_partition_count: int = 0
    offline_partitions_count: int = 0
    preferred_replica_imbalance_count: int = 0
    topics_to_delete_count: int = 0
    leader_elections: int = 0
    unclean_leader_elections: int = 0


def statistics_of(term: Term | None) -> ControllerStatistics:
    if term is None:
        return ControllerStatistics()
    context = term.context
    offline = [
        each
        for each in context.partitions_in(PartitionStatus.OFFLINE)
        if each.topic not in context.deletions_started
    ]
    return ControllerStatistics(
        active_controller_count=1,
        active_broker_count=len(context.brokers),
        global_topic_count=len(context.topics),
        global_partition_count=len(context.leaderships),
        offline_partitions_count=len(offline),
        preferred_replica_imbalance_count=sum(map(len, context.led_elsewhere().values())),
        topics_to_delete_count=len(context.topics_to_delete),
        leader_elections=term.elections,
        unclean_leader_elections=term.unclean_elections,
    )
