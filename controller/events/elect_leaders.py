"""ElectLeaders (43): leaders are elected because a client asks (KIP-183, KIP-460).

KafkaController.processReplicaLeaderElection and onReplicaElection. A preferred election gives
partitions back to their first replicas; an unclean one takes any replica for partitions that have
no leader alive. The answer does not wait until it is known to clients: the broker that asks does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from logquake.controller.rules.election import Elected
from logquake.controller.state_machines import partition_state_machine
from logquake.controller.state_machines.partition_state_machine import ElectionStrategy
from logquake.controller.term import Term
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition


class ElectionType(IntEnum):
    """As on the wire."""

    PREFERRED = 0
    UNCLEAN = 1


@dataclass(frozen=True, slots=True)
class ElectionRequest:
    type: ElectionType
    partitions: Sequence[TopicPartition]


@dataclass(frozen=True, slots=True)
class ElectionResult:
    """The leader of an election that was held, else why there was none."""

    leader: int = NO_LEADER
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


Results = Mapping[TopicPartition, ElectionResult]

_STRATEGIES = {
    ElectionType.PREFERRED: ElectionStrategy.PREFERRED,
    ElectionType.UNCLEAN: ElectionStrategy.UNCLEAN,
}
_NOT_ELECTED = {
    ElectionType.PREFERRED: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
    ElectionType.UNCLEAN: ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
}
_KAFKAS_NAMES = {
    ElectionType.PREFERRED: "PreferredReplicaPartitionLeaderElectionStrategy",
    ElectionType.UNCLEAN: "OfflinePartitionLeaderElectionStrategy(true)",
}
"""Clients show the message."""


async def elect_leaders(
    term: Term, request: ElectionRequest, reply: Callable[[Results], None]
) -> None:
    """Raises ControllerMoved, ZkFailure."""
    refused = {each: _refusal(term, request.type, each) for each in request.partitions}
    electable = [partition for partition, refusal in refused.items() if refusal is None]
    held = await _hold(term, request.type, electable)
    reply({each: refusal or held[each] for each, refusal in refused.items()})


def with_error(partitions: Iterable[TopicPartition], code: ErrorCode) -> Results:
    """The answer where nothing was come to."""
    return dict.fromkeys(partitions, ElectionResult(error=code))


def _refusal(term: Term, type_: ElectionType, partition: TopicPartition) -> ElectionResult | None:
    context = term.context
    if not context.assignment(partition).replicas:
        return ElectionResult(
            error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message="The partition does not exist."
        )
    if partition.topic in context.topics_to_delete:
        return ElectionResult(
            error=ErrorCode.INVALID_TOPIC_EXCEPTION, message="The topic is being deleted"
        )
    if partition in context.leaderships and not _may_change(term, type_, partition):
        return ElectionResult(
            error=ErrorCode.ELECTION_NOT_NEEDED,
            message="Leader election not needed for topic partition.",
        )
    return None


def _may_change(term: Term, type_: ElectionType, partition: TopicPartition) -> bool:
    leader = term.context.leaderships[partition].state.leader
    if type_ is ElectionType.PREFERRED:
        return leader != term.context.assignment(partition).replicas[0]
    return leader not in term.context.active_broker_ids


async def _hold(
    term: Term, type_: ElectionType, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, ElectionResult]:
    outcomes = await partition_state_machine.bring_online(term, partitions, _STRATEGIES[type_])
    held = {}
    for partition in partitions:
        outcome = outcomes.get(partition)
        held[partition] = (
            ElectionResult(outcome.state.leader)
            if isinstance(outcome, Elected)
            else ElectionResult(
                error=_NOT_ELECTED[type_],
                message=f"Failed to elect leader for partition {partition} "
                f"under strategy {_KAFKAS_NAMES[type_]}",
            )
        )
    return held
