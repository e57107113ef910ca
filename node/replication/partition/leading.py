"""What a leader does with its partition: take records, commit them, keep its ISR.

Follows Kafka 3.9's Partition: appendRecordsToLeader, maybeIncrementLeaderHW,
checkEnoughReplicasReachOffset, maybeExpandIsr, maybeShrinkIsr, handleAlterPartitionError.

All functions take a partition and its Leader, so that the caller settles first whether it leads.
"""

from __future__ import annotations

from logquake.node.journal_events import ISR_EXPANDED, ISR_PROPOSED, ISR_REFUSED, ISR_SHRUNK
from logquake.node.replication.partition.alter_partition import (
    IsrMember,
    IsrOutcome,
    IsrProposal,
    NewIsr,
)
from logquake.node.replication.partition.isr import CommittedIsr, PendingExpand, PendingIsr
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Leader
from logquake.node.replication.values import ProduceEntry
from logquake.seams.journal import Event
from logquake.storage.log.appended import Appended
from logquake.wire.errors import ErrorCode, error_name
from logquake.wire.sentinels import ACKS_ALL, UNKNOWN_BROKER_EPOCH

# The controller says for certain that it did not do it: the committed ISR still holds.
_NOT_DONE = frozenset({ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INELIGIBLE_REPLICA})
# This leader is behind: a LeaderAndIsr that settles the matter is on its way, so wait for it.
_SUPERSEDED = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NEW_LEADER_ELECTED,
    }
)


def stage(
    partition: Partition, leader: Leader, entry: ProduceEntry, acks: int, *, internal: bool
) -> Appended | ErrorCode:
    """Stage produced records for the end of the pass, or say why not. Raises RecordError.

    NOT_ENOUGH_REPLICAS means that nothing was appended.
    """
    if acks == ACKS_ALL and not leader.has_min_isr(partition.config.min_insync_replicas):
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return partition.replica.log.stage_as_leader(
        entry.records,
        partition.leader_epoch,
        partition.context.scheduler.wall_ms(),
        header=entry.header,
        guard=entry.guard,
        internal=internal,
    )


def advance_high_watermark(partition: Partition, leader: Leader) -> None:
    """Move the high watermark as far as the ISR allows, and wake who waits if it moved.

    Not below min.insync.replicas: what too few replicas hold is not committed (Kafka 3.9).
    """
    if not leader.has_min_isr(partition.config.min_insync_replicas):
        return
    context = partition.context
    replica = partition.replica
    mark = leader.next_high_watermark(
        replica.end,
        context.scheduler.now_ms(),
        context.settings.replica_lag_time_max_ms,
        context.is_alive,
    )
    if mark > replica.high_watermark and replica.advance_to(mark):
        context.touched(partition)


def replicated(partition: Partition, leader: Leader, required_offset: int) -> ErrorCode | None:
    """Whether acks=all may be answered for everything below required_offset: None is not yet."""
    if partition.replica.high_watermark < required_offset:
        return None
    minimum = leader.effective_min_isr(partition.config.min_insync_replicas)
    if len(leader.isr.maximal) < minimum:
        return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    return ErrorCode.NONE


def record_follower_fetch(
    partition: Partition,
    leader: Leader,
    replica_id: int,
    fetch_offset: int,
    log_start: int,
    broker_epoch: int,
) -> None:
    """A follower has everything below fetch_offset: its ISR membership and the mark may follow.

    Where its log starts may be what a deletion of records waits for. One that had more before, and
    lost it, may lag from now on.
    """
    progress = leader.followers[replica_id]
    previous_end, previous_start = progress.log_end, progress.log_start
    replica = partition.replica
    if progress.resting is not None:  # in another session of the same follower
        partition.rouse(progress.resting)
    progress.record_fetch(
        fetch_offset, log_start, replica.end, partition.context.scheduler.now_ms(), broker_epoch
    )
    if replica_id not in leader.isr.maximal:
        expand_isr(partition, leader, replica_id)
    if fetch_offset != previous_end:
        advance_high_watermark(partition, leader)
    if log_start != previous_start or fetch_offset < previous_end:
        partition.context.touched(partition)


def expand_isr(partition: Partition, leader: Leader, replica_id: int) -> None:
    """Propose the follower for the ISR if it is fit to join and nothing else is under way."""
    isr = leader.isr
    mark = partition.replica.high_watermark
    if (
        isinstance(isr, CommittedIsr)
        and leader.may_join(replica_id, mark)
        and partition.context.is_alive(replica_id)
    ):
        log_end = leader.followers[replica_id].log_end
        why = (
            f"broker {replica_id} reached the high watermark {mark} and this epoch's start "
            f"{leader.epoch_start_offset}: log end {log_end}"
        )
        _propose(partition, leader, isr.expand(replica_id), why)


def shrink_isr(partition: Partition, leader: Leader) -> None:
    """Propose to drop the members that lag by more than replica.lag.time.max.ms."""
    isr = leader.isr
    if not isinstance(isr, CommittedIsr):
        return
    now_ms = partition.context.scheduler.now_ms()
    log_end = partition.replica.end
    max_lag_ms = partition.context.settings.replica_lag_time_max_ms
    removed = leader.out_of_sync(log_end, now_ms, max_lag_ms)
    if removed:
        _propose(
            partition, leader, isr.shrink(removed), _why_shrink(leader, removed, now_ms, log_end)
        )


def is_settled(partition: Partition, leader: Leader) -> bool:
    """Whether the ISR has everything, so that nothing can change by time alone."""
    replica = partition.replica
    return replica.high_watermark == replica.end and leader.isr_ends_at(replica.end)


def _why_shrink(leader: Leader, removed: tuple[int, ...], now_ms: int, log_end: int) -> str:
    lagging = []
    for replica in removed:
        progress = leader.followers.get(replica)
        state = progress.describe(now_ms) if progress else "no longer assigned"
        lagging.append(f"broker {replica} {state}")
    return f"{'; '.join(lagging)}; leader's log end {log_end}"


def _propose(partition: Partition, leader: Leader, pending: PendingIsr, why: str) -> None:
    leader.isr = pending
    partition.context.journal.record(
        Event(
            ISR_PROPOSED,
            partition.name,
            why,
            list(pending.committed),
            list(pending.proposed),
            partition.leader_epoch,
        )
    )
    _submit(partition, leader, pending)


def _submit(partition: Partition, leader: Leader, pending: PendingIsr) -> None:
    def settle(outcome: IsrOutcome) -> None:
        # Any newer word of the controller has replaced the pending state: this one is stale.
        if partition.leader is leader and leader.isr is pending:
            _settle(partition, leader, pending, outcome)

    members = tuple(
        IsrMember(replica, _broker_epoch(partition, leader, replica))
        for replica in pending.proposed
    )
    partition.context.propose(
        IsrProposal(
            partition.topic,
            partition.index,
            partition.topic_id,
            partition.leader_epoch,
            partition.partition_epoch,
            members,
            settle,
        )
    )


def _broker_epoch(partition: Partition, leader: Leader, replica: int) -> int:
    progress = leader.followers.get(replica)
    if progress is None or not partition.context.settings.isr_broker_epochs:
        return UNKNOWN_BROKER_EPOCH
    return progress.broker_epoch


def _settle(partition: Partition, leader: Leader, pending: PendingIsr, outcome: IsrOutcome) -> None:
    if isinstance(outcome, NewIsr):
        _commit_isr(partition, leader, pending, outcome)
    elif outcome in _NOT_DONE:
        leader.isr = pending.base
        _journal_refusal(partition, pending, outcome, "the committed ISR holds")
        partition.context.touched(partition)
    elif outcome in _SUPERSEDED:
        _journal_refusal(partition, pending, outcome, "waiting for newer state")
    else:
        _journal_refusal(partition, pending, outcome, "asking again")
        partition.context.scheduler.call_later(
            partition.context.settings.alter_partition_retry_ms,
            lambda: _retry(partition, leader, pending),
        )


def _retry(partition: Partition, leader: Leader, pending: PendingIsr) -> None:
    if partition.leader is leader and leader.isr is pending:
        _submit(partition, leader, pending)


def _commit_isr(partition: Partition, leader: Leader, pending: PendingIsr, new: NewIsr) -> None:
    if (
        new.leader_epoch != partition.leader_epoch
        or new.partition_epoch < partition.partition_epoch
    ):
        return  # answered from another time: LeaderAndIsr will bring what holds
    leader.isr = CommittedIsr(new.isr)
    partition.partition_epoch = new.partition_epoch
    what = ISR_EXPANDED if isinstance(pending, PendingExpand) else ISR_SHRUNK
    partition.context.journal.record(
        Event(
            what,
            partition.name,
            f"the controller committed it as version {new.partition_epoch}",
            list(pending.committed),
            list(new.isr),
            partition.leader_epoch,
        )
    )
    advance_high_watermark(partition, leader)
    # Waiting acks=all depend on the ISR's size as well as on the mark.
    partition.context.touched(partition)


def _journal_refusal(partition: Partition, pending: PendingIsr, error: int, then: str) -> None:
    partition.context.journal.record(
        Event(
            ISR_REFUSED,
            partition.name,
            f"the controller answered {error_name(error)}: {then}",
            list(pending.committed),
            list(pending.proposed),
            partition.leader_epoch,
        )
    )
