"""Whether a leader's proposal of a new ISR is accepted (KIP-497, KIP-841): pure.

Rules and their order are Kafka's (KafkaController.tryProcessAlterPartition), with three of
KRaft's (ReplicationControlManager) that its ZooKeeper mode lacks: only the leader may propose; it
is in the ISR, which lies within the assignment; and a broker whose epoch is given must be
registered under that very epoch, else a restart between the leader's last look and the proposal
puts an empty replica into the ISR (KIP-903). Kafka's own leaders send -1 in ZooKeeper mode: those
are not checked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from logquake.controller.rules.partitions import LeaderAndIsr, LeaderRecovery
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_BROKER_EPOCH
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a leader asks for one partition. ``broker_epochs`` is keyed by ISR member."""

    partition: TopicPartition
    state: LeaderAndIsr
    broker_epochs: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Accepted:
    """To be written: the same leader epoch, another ISR."""

    state: LeaderAndIsr


@dataclass(frozen=True, slots=True)
class AlreadySo:
    """Nothing to write: a repeated proposal gets the state it had led to."""

    state: LeaderAndIsr


@dataclass(frozen=True, slots=True)
class Refused:
    code: ErrorCode
    why: str


Verdict = Accepted | AlreadySo | Refused


def judge(
    proposal: Proposal,
    current: LeaderAndIsr | None,
    assigned: Collection[int],
    active_brokers: Mapping[int, int],
) -> Verdict:
    """``active_brokers`` maps the brokers that may be in an ISR to their epochs."""
    if current is None:
        return Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "the partition has no state")
    proposed = proposal.state
    return (
        _judge_epochs(proposed, current)
        or _judge_shape(proposed, current, assigned)
        or _judge_recovery(proposed, current)
        or _judge_members(proposal, current, active_brokers)
        or Accepted(proposed)
    )


def _judge_epochs(proposed: LeaderAndIsr, current: LeaderAndIsr) -> Verdict | None:
    if (
        proposed.partition_epoch > current.partition_epoch
        or proposed.leader_epoch > current.leader_epoch
    ):
        return Refused(
            ErrorCode.NOT_CONTROLLER,
            f"the leader knows a later epoch ({_epochs(proposed)}) than this controller "
            f"({_epochs(current)}), which has probably been replaced",
        )
    if proposed.leader_epoch < current.leader_epoch:
        return Refused(
            ErrorCode.FENCED_LEADER_EPOCH,
            f"leader epoch {proposed.leader_epoch} is over, it is {current.leader_epoch} now",
        )
    if _same_but_for_partition_epoch(proposed, current):
        # Before the partition epoch is judged, else a repetition would be refused.
        return AlreadySo(current)
    if proposed.partition_epoch < current.partition_epoch:
        return Refused(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"partition epoch {proposed.partition_epoch} is over, "
            f"it is {current.partition_epoch} now",
        )
    return None


def _judge_shape(
    proposed: LeaderAndIsr, current: LeaderAndIsr, assigned: Collection[int]
) -> Refused | None:
    if proposed.leader != current.leader:
        why = f"broker {proposed.leader} is not the leader, broker {current.leader} is"
    elif proposed.leader not in proposed.isr:
        why = f"ISR {list(proposed.isr)} lacks its leader {proposed.leader}"
    elif not set(proposed.isr) <= set(assigned):
        why = f"ISR {list(proposed.isr)} goes beyond the assigned {list(assigned)}"
    else:
        return None
    return Refused(ErrorCode.INVALID_REQUEST, why)


def _judge_recovery(proposed: LeaderAndIsr, current: LeaderAndIsr) -> Refused | None:
    if proposed.recovery is not LeaderRecovery.RECOVERING:
        return None
    if len(proposed.isr) > 1:
        return Refused(
            ErrorCode.INVALID_REQUEST,
            f"the leader is recovering and yet proposes ISR {list(proposed.isr)}",
        )
    if current.recovery is LeaderRecovery.RECOVERED:
        return Refused(ErrorCode.INVALID_REQUEST, "a recovered leader cannot become recovering")
    return None


def _judge_members(
    proposal: Proposal, current: LeaderAndIsr, active_brokers: Mapping[int, int]
) -> Refused | None:
    """KIP-841, for those who would join. Kafka's code asks it of all, so that a leader which is
    alone in the ISR and shuts down may take nobody in, and cannot hand over.
    """
    joining = [broker for broker in proposal.state.isr if broker not in current.isr]
    absent = [broker for broker in joining if broker not in active_brokers]
    if absent:
        return Refused(
            ErrorCode.INELIGIBLE_REPLICA,
            f"brokers {absent} are not registered, or are shutting down",
        )
    for broker in proposal.state.isr:
        epoch = proposal.broker_epochs.get(broker, UNKNOWN_BROKER_EPOCH)
        if epoch not in (UNKNOWN_BROKER_EPOCH, active_brokers.get(broker, epoch)):
            return Refused(
                ErrorCode.INELIGIBLE_REPLICA,
                f"broker {broker} was seen under epoch {epoch} and has registered since "
                f"under epoch {active_brokers[broker]}",
            )
    return None


def _same_but_for_partition_epoch(proposed: LeaderAndIsr, current: LeaderAndIsr) -> bool:
    return (
        proposed.partition_epoch <= current.partition_epoch
        and proposed.leader == current.leader
        and proposed.leader_epoch == current.leader_epoch
        and proposed.isr == current.isr
        and proposed.recovery == current.recovery
    )


def _epochs(state: LeaderAndIsr) -> str:
    return f"leader epoch {state.leader_epoch}, partition epoch {state.partition_epoch}"
