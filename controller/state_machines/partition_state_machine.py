"""Partitions move between their states; going online means that a leader is elected.

A decision is written to ZooKeeper first, then taken into the context, then told to brokers. If
somebody wrote the partition's state meanwhile, the write is refused and the election is held again
over what is there now (Kafka's PartitionStateMachine).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from enum import Enum

from logquake.controller.channels.request_batch import ControllerBrokerRequestBatch
from logquake.controller.journal_events import (
    LEADER_ELECTED,
    LEADER_NOT_ELECTED,
    PARTITION_MOVE_REFUSED,
    PARTITION_NOT_CREATED,
    UNCLEAN_LEADER_ELECTED,
)
from logquake.controller.rules.election import (
    Elected,
    Election,
    NotElected,
    Outcome,
    elect_for_controlled_shutdown,
    elect_preferred,
    elect_when_leader_is_lost,
    first_leader,
)
from logquake.controller.rules.partitions import LeaderAndIsr, Leadership, PartitionStatus
from logquake.controller.state_machines.unclean_topics import topics_allowing_unclean
from logquake.controller.term import DECIDED_AT_A_TIME, Term
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.procedure import in_slices

_P = PartitionStatus

VALID_PREVIOUS = {
    _P.NEW: {_P.NON_EXISTENT},
    _P.ONLINE: {_P.NEW, _P.ONLINE, _P.OFFLINE},
    _P.OFFLINE: {_P.NEW, _P.ONLINE, _P.OFFLINE},
    _P.NON_EXISTENT: {_P.OFFLINE},
}
"""A move that is not here is not made: it is reported, and the partition stays where it was."""


class ElectionStrategy(Enum):
    """Why leaders are elected; each has its own rule."""

    OFFLINE = "the partition has no online leader"
    UNCLEAN = "a client asked for any replica"
    PREFERRED = "leadership goes back to the preferred replica"
    CONTROLLED_SHUTDOWN = "the leader shuts down"


def mark(term: Term, partitions: Iterable[TopicPartition], target: PartitionStatus) -> None:
    """A move that is only remembered: to NEW, OFFLINE or NON_EXISTENT."""
    for partition in _movable(term, partitions, target):
        term.context.set_status(partition, target)


async def trigger_online_state_change(
    term: Term, topic: str | None = None
) -> dict[TopicPartition, Outcome]:
    """Elect for every new or offline partition, of one topic or of all."""
    waiting = [
        partition
        for partition in term.context.partitions_in(PartitionStatus.NEW, PartitionStatus.OFFLINE)
        if partition.topic not in term.context.topics_to_delete
        and topic in (None, partition.topic)
        and not term.is_set_aside(partition)
    ]
    return await bring_online(term, waiting, ElectionStrategy.OFFLINE)


async def bring_online(
    term: Term, partitions: Iterable[TopicPartition], strategy: ElectionStrategy
) -> dict[TopicPartition, Outcome]:
    """Give new partitions their first state, elect leaders for the others, tell the brokers.

    Answers the elections' outcomes. Raises ControllerMoved, ZkFailure.

    Of a failover's partitions the first are told of while the last are decided. Not so of new ones:
    a producer that hears of a part of a topic's partitions spreads its keys over those.
    """
    movable = _movable(term, partitions, PartitionStatus.ONLINE)
    status = term.context.partition_status
    new = [each for each in movable if status[each] is PartitionStatus.NEW]
    led_before = [each for each in movable if status[each] is not PartitionStatus.NEW]
    batch = term.batch()
    async for some in in_slices(new, DECIDED_AT_A_TIME):
        await _initialize_leader_and_isr(term, batch, some)
    outcomes: dict[TopicPartition, Outcome] = {}
    async for some in in_slices(led_before, DECIDED_AT_A_TIME):
        outcomes |= await _elect_leaders(term, batch, some, strategy)
        batch = await term.send_if_large(batch)
    await term.send(batch)
    return outcomes


def _movable(
    term: Term, partitions: Iterable[TopicPartition], target: PartitionStatus
) -> list[TopicPartition]:
    movable = []
    for partition in partitions:
        current = term.context.partition_status.get(partition, PartitionStatus.NON_EXISTENT)
        if current in VALID_PREVIOUS[target]:
            movable.append(partition)
        else:
            term.note(
                PARTITION_MOVE_REFUSED,
                str(partition),
                "the move is not legal from there",
                current.value,
                target.value,
            )
    return movable


async def _initialize_leader_and_isr(
    term: Term, batch: ControllerBrokerRequestBatch, partitions: Sequence[TopicPartition]
) -> None:
    states = {}
    for partition in partitions:
        first = first_leader(term.context.candidates(partition))
        if isinstance(first, NotElected):
            term.note_change(LEADER_NOT_ELECTED, partition, first.why, None, None)
        else:
            states[partition] = first
    written = await term.zk.create_states(states)
    for partition, state in sorted(written.done.items()):
        _take_in(term, partition, state)
        batch.lead_or_follow(state.isr, partition, is_new=True)
        why = "a new partition: its first online replica leads, all online are in sync"
        term.note_change(LEADER_ELECTED, partition, why, None, state)
    for partition in (*written.conflicts, *written.missing):
        why = "its state exists already" if partition in written.conflicts else "its topic is gone"
        term.note_change(PARTITION_NOT_CREATED, partition, why, None, states[partition])


async def _elect_leaders(
    term: Term,
    batch: ControllerBrokerRequestBatch,
    partitions: Sequence[TopicPartition],
    strategy: ElectionStrategy,
) -> dict[TopicPartition, Outcome]:
    settled: dict[TopicPartition, Outcome] = {}
    remaining = list(partitions)
    current = await term.known_states(remaining)
    unread: Set[TopicPartition] = current.keys() & term.context.leaderships.keys()
    while remaining:
        outcomes = await _hold_elections(term, strategy, remaining, current)
        elected = {each: one for each, one in outcomes.items() if isinstance(one, Elected)}
        written = await term.zk.write_states({each: one.state for each, one in elected.items()})
        for partition, state in sorted(written.done.items()):
            batch.lead_or_follow(elected[partition].recipients, partition)
            _note_elected(term, partition, elected[partition], current[partition].state, state)
            _take_in(term, partition, state)
        gone = {each: NotElected("its state was deleted") for each in written.missing}
        remaining = [*written.conflicts, *_unproved(term, outcomes, unread)]
        outcomes = {**outcomes, **gone}
        settled.update((each, one) for each, one in outcomes.items() if each not in remaining)
        unread = frozenset()
        current = await term.zk.read_states(remaining)
    for partition, outcome in sorted(settled.items()):
        if isinstance(outcome, NotElected) and not term.is_set_aside(partition):
            _note_not_elected(term, partition, strategy, outcome)
    return settled


def _unproved(
    term: Term, outcomes: Mapping[TopicPartition, Outcome], unread: Set[TopicPartition]
) -> list[TopicPartition]:
    """Not elected over a state that was not read, as no write has shown that it still holds.

    Where no replica is online, no state makes one a leader.
    """
    return [
        each
        for each, outcome in outcomes.items()
        if isinstance(outcome, NotElected)
        and each in unread
        and term.context.candidates(each).online
    ]


async def _hold_elections(
    term: Term,
    strategy: ElectionStrategy,
    partitions: Sequence[TopicPartition],
    current: Mapping[TopicPartition, Leadership],
) -> dict[TopicPartition, Outcome]:
    """The elections of one round, over the states that are current as far as is known."""
    with_shutting_down = strategy is ElectionStrategy.CONTROLLED_SHUTDOWN
    rules = await _rules(term, strategy, current)
    outcomes: dict[TopicPartition, Outcome] = {}
    for partition in partitions:
        if partition not in current:
            outcomes[partition] = NotElected("it has no state in ZooKeeper")
            continue
        candidates = term.context.candidates(partition, with_shutting_down=with_shutting_down)
        outcomes[partition] = rules[partition.topic](candidates, current[partition].state)
    return outcomes


async def _rules(
    term: Term, strategy: ElectionStrategy, current: Mapping[TopicPartition, Leadership]
) -> dict[str, Election]:
    """The election rule by topic. Topic configuration is read only where it can matter."""
    topics = {partition.topic for partition in current}
    if strategy is ElectionStrategy.PREFERRED:
        return dict.fromkeys(topics, elect_preferred)
    if strategy is ElectionStrategy.CONTROLLED_SHUTDOWN:
        return dict.fromkeys(topics, elect_for_controlled_shutdown)
    if strategy is ElectionStrategy.UNCLEAN:
        return dict.fromkeys(topics, elect_when_leader_is_lost(unclean_allowed=True))
    without_online_isr = {
        partition.topic
        for partition, leadership in current.items()
        if not term.context.candidates(partition).online & set(leadership.state.isr)
    }
    allowing: set[str] = set()
    if without_online_isr:
        allowing = await topics_allowing_unclean(
            sorted(without_online_isr),
            term.set_aside,
            default=term.settings.unclean_leader_election_enable,
        )
    return {topic: elect_when_leader_is_lost(unclean_allowed=topic in allowing) for topic in topics}


def _take_in(term: Term, partition: TopicPartition, state: LeaderAndIsr) -> None:
    term.context.take_in(partition, Leadership(state, term.zk.epoch))
    term.context.set_status(partition, PartitionStatus.ONLINE)


def _note_elected(
    term: Term,
    partition: TopicPartition,
    election: Elected,
    before: LeaderAndIsr,
    after: LeaderAndIsr,
) -> None:
    term.elections += 1
    term.unclean_elections += election.unclean
    what = UNCLEAN_LEADER_ELECTED if election.unclean else LEADER_ELECTED
    term.note_change(what, partition, election.why, before, after)


def _note_not_elected(
    term: Term, partition: TopicPartition, strategy: ElectionStrategy, outcome: NotElected
) -> None:
    known = term.context.leaderships.get(partition)
    why = f"{strategy.value}; {outcome.why}"
    term.note_change(LEADER_NOT_ELECTED, partition, why, known.state if known else None, None)
