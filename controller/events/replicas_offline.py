"""Replicas were lost with their broker or log directory (KafkaController.onReplicasBecomeOffline).

Partitions that lost their leader get another one, then the replicas leave their ISRs; every
partition that they were in gets a new leader epoch, also where they only followed.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.controller.rules.election import Elected
from logquake.controller.rules.partitions import Replica
from logquake.controller.rules.transitions import PartitionStatus
from logquake.controller.state_machines import (
    partition_state_machine,
    replica_state_machine,
    topic_deletion_manager,
)
from logquake.controller.term import Term


async def replicas_offline(term: Term, replicas: Iterable[Replica], why: str) -> None:
    """Raises ControllerMoved, ZkFailure."""
    lost = list(replicas)
    deleting = [each for each in lost if each.partition.topic in term.context.topics_to_delete]
    staying = [each for each in lost if each.partition.topic not in term.context.topics_to_delete]
    partition_state_machine.mark(
        term, term.context.without_online_leader(), PartitionStatus.OFFLINE
    )
    elections = await partition_state_machine.bring_leaderless_online(term)
    await replica_state_machine.take_offline(term, staying, why)
    topic_deletion_manager.replicas_not_deleted(term, deleting, why)
    await topic_deletion_manager.advance(term, {each.partition.topic for each in deleting})
    if not staying and not any(isinstance(each, Elected) for each in elections.values()):
        await term.inform_all()  # nothing else told the brokers who is left
