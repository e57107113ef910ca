"""Replicas were lost with their broker or log directory (KafkaController.onReplicasBecomeOffline).

Partitions that lost their leader get another one, then the replicas leave their ISRs; every
partition that they were in gets a new leader epoch, also where they only followed.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.controller import partition_moves, replica_moves, topic_deletion
from logquake.controller.election import Elected
from logquake.controller.partitions import Replica
from logquake.controller.term import Term
from logquake.controller.transitions import PartitionStatus


async def replicas_offline(term: Term, replicas: Iterable[Replica], why: str) -> None:
    """Raises ControllerMoved, ZkFailure."""
    lost = list(replicas)
    deleting = [each for each in lost if each.partition.topic in term.context.topics_to_delete]
    staying = [each for each in lost if each.partition.topic not in term.context.topics_to_delete]
    partition_moves.mark(term, term.context.without_online_leader(), PartitionStatus.OFFLINE)
    elections = await partition_moves.bring_leaderless_online(term)
    await replica_moves.take_offline(term, staying, why)
    topic_deletion.replicas_not_deleted(term, deleting, why)
    await topic_deletion.advance(term, {each.partition.topic for each in deleting})
    if not staying and not any(isinstance(each, Elected) for each in elections.values()):
        await term.inform_all()  # nothing else told the brokers who is left
