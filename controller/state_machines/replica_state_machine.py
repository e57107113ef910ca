"""Replicas move between their states; going offline takes them out of the ISR.

As in Kafka's ReplicaStateMachine: decisions about a replica on one broker, the others are told.
Only take_offline writes to ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from logquake.controller.channels.request_batch import ControllerBrokerRequestBatch
from logquake.controller.journal_events import (
    ISR_SHRUNK,
    LEADER_LOST,
    REPLICA_MOVE_REFUSED,
    STATE_MISSING,
)
from logquake.controller.rules.election import without_replica
from logquake.controller.rules.partitions import Leadership, Replica, ReplicaStatus
from logquake.controller.term import DECIDED_AT_A_TIME, Term
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.procedure import in_slices

_R = ReplicaStatus

_LIVING = {_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE}

VALID_PREVIOUS = {
    _R.NEW: {_R.NON_EXISTENT},
    _R.ONLINE: _LIVING,
    _R.OFFLINE: _LIVING,
    _R.DELETION_STARTED: {_R.OFFLINE},
    _R.DELETION_SUCCESSFUL: {_R.DELETION_STARTED},
    _R.DELETION_INELIGIBLE: {_R.OFFLINE, _R.DELETION_STARTED},
    _R.NON_EXISTENT: {_R.DELETION_SUCCESSFUL},
}
"""A move that is not here is not made: it is reported, and the replica stays where it was."""


def mark(term: Term, replicas: Iterable[Replica], target: ReplicaStatus) -> None:
    """A move that is only remembered."""
    for replica in _movable(term, replicas, target):
        term.context.replica_status[replica] = target


async def bring_online(term: Term, replicas: Sequence[Replica]) -> None:
    """LeaderAndIsr to the replicas' own brokers; new replicas had theirs at their creation."""
    batch = term.batch()
    async for some in in_slices(replicas):
        for replica in _movable(term, some, ReplicaStatus.ONLINE):
            was_new = term.context.replica_status.get(replica) is ReplicaStatus.NEW
            if not was_new and replica.partition in term.context.leaderships:
                batch.lead_or_follow([replica.broker_id], replica.partition)
            term.context.replica_status[replica] = ReplicaStatus.ONLINE
    await term.send(batch)


async def start_deletion(term: Term, replicas: Iterable[Replica]) -> None:
    """StopReplica that deletes; the answer decides how it goes on."""
    batch = term.batch()
    for replica in _movable(term, replicas, ReplicaStatus.DELETION_STARTED):
        term.context.replica_status[replica] = ReplicaStatus.DELETION_STARTED
        batch.stop(replica.broker_id, replica.partition, delete=True)
    await term.send(batch)


async def take_offline(term: Term, replicas: Iterable[Replica], why: str) -> None:
    """StopReplica to their brokers, out of the ISR in ZooKeeper, LeaderAndIsr to the others.

    Raises ControllerMoved, ZkFailure.
    """
    batch = term.batch()
    movable = sorted(_movable(term, replicas, ReplicaStatus.OFFLINE), key=lambda one: one.broker_id)
    for broker_id, of_broker in groupby(movable, key=lambda one: one.broker_id):
        leaving = sorted(one.partition for one in of_broker)
        async for partitions in in_slices(leaving, DECIDED_AT_A_TIME):
            await _take_offline_on(term, batch, broker_id, partitions, why)
            batch = await term.send_if_large(batch)
    await term.send(batch)


async def _take_offline_on(
    term: Term,
    batch: ControllerBrokerRequestBatch,
    broker_id: int,
    partitions: Sequence[TopicPartition],
    why: str,
) -> None:
    context = term.context
    for partition in partitions:
        batch.stop(broker_id, partition, delete=False)
    led = [partition for partition in partitions if partition in context.leaderships]
    out = await _remove_from_isr(term, broker_id, led, why)
    for partition in partitions:
        if partition not in context.leaderships or term.is_set_aside(partition):
            batch.inform(context.brokers, [partition])
            context.replica_status[Replica(partition, broker_id)] = ReplicaStatus.OFFLINE
    for partition in out:
        if partition.topic not in context.topics_to_delete:
            others = [r for r in context.assignment(partition).replicas if r != broker_id]
            batch.lead_or_follow(others, partition)
        context.replica_status[Replica(partition, broker_id)] = ReplicaStatus.OFFLINE


async def _remove_from_isr(
    term: Term, broker_id: int, partitions: Sequence[TopicPartition], why: str
) -> list[TopicPartition]:
    """Take the broker out of these ISRs; answers the partitions where it is out now."""
    out: list[TopicPartition] = []
    remaining = list(partitions)
    current = await term.known_states(remaining)
    while remaining:
        _note_missing(term, [each for each in remaining if each not in current])
        shrinking = {
            partition: without_replica(leadership.state, broker_id)
            for partition, leadership in current.items()
            if broker_id in leadership.state.isr
        }
        written = await term.zk.write_states(shrinking)
        for partition, state in sorted(written.done.items()):
            before = current[partition].state
            what = ISR_SHRUNK if len(state.isr) < len(before.isr) else LEADER_LOST
            term.note_change(what, partition, why, before, state)
        settled = {
            **{each: one.state for each, one in current.items() if each not in shrinking},
            **written.done,
        }
        for partition, state in sorted(settled.items()):
            term.context.take_in(partition, Leadership(state, term.zk.epoch))
            out.append(partition)
        remaining = written.conflicts
        current = await term.zk.read_states(remaining)
    return sorted(out)


def _note_missing(term: Term, partitions: Iterable[TopicPartition]) -> None:
    for partition in partitions:
        is_deleting = partition.topic in term.context.topics_to_delete
        if not is_deleting and not term.is_set_aside(partition):
            term.note(STATE_MISSING, str(partition), "it has no state in ZooKeeper")


def _movable(term: Term, replicas: Iterable[Replica], target: ReplicaStatus) -> list[Replica]:
    movable = []
    for replica in replicas:
        current = term.context.replica_status.get(replica, ReplicaStatus.NON_EXISTENT)
        if current in VALID_PREVIOUS[target]:
            movable.append(replica)
        else:
            term.note(
                REPLICA_MOVE_REFUSED,
                f"{replica.partition} on broker-{replica.broker_id}",
                "the move is not legal from there",
                current.value,
                target.value,
            )
    return movable
