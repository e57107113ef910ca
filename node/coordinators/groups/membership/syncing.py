"""Members ask for their assignment, and the leader brings it (handleSyncGroup)."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership import rebalancing
from logquake.node.coordinators.groups.membership.effects import AnswerSync, Assigned, Store
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.heartbeats import generation_error
from logquake.node.coordinators.groups.membership.members import Member
from logquake.node.coordinators.groups.membership.record import value_of
from logquake.node.coordinators.groups.membership.states import CompletingRebalance, Stable
from logquake.node.coordinators.groups.membership.values import Moment, Sync, SyncResult
from logquake.wire.errors import ErrorCode


def sync(group: ClassicGroup, asked: Sync, at: Moment) -> None:
    error = _error(group, asked)
    if error:
        group.emit(AnswerSync(asked.reply, SyncResult(error)))
        return
    member = group.members[asked.member_id]
    _note_synced(group, member)
    if isinstance(group.state, CompletingRebalance):
        _await_assignment(group, member, asked)
    else:
        group.emit(AnswerSync(asked.reply, _assignment(group, member)))
        group.renew_session(member, at)


def stored(group: ClassicGroup, assigned: Assigned, error: ErrorCode, at: Moment) -> None:
    """The assignment is in the log, or it is not; unless the group went on meanwhile."""
    is_awaited = isinstance(group.state, CompletingRebalance)
    if not is_awaited or group.generation_id != assigned.generation_id:
        return
    if error:
        rebalancing.refuse_assignments(group, error, at)
        why = f"the assignment of leader {assigned.leader_id} was not stored: {error.name}"
        rebalancing.prepare(group, why, at)
    else:
        _assign(group, assigned, at)


def _error(group: ClassicGroup, asked: Sync) -> ErrorCode:
    """validateSyncGroup; REBALANCE_IN_PROGRESS where all are asked to join anew."""
    error = generation_error(group, asked.member_id, asked.group_instance_id, asked.generation_id)
    if error:
        return error
    if asked.protocol_type is not None and asked.protocol_type != group.protocol_type:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if asked.protocol_name is not None and asked.protocol_name != group.protocol_name:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.REBALANCE_IN_PROGRESS if group.is_preparing else ErrorCode.NONE


def _note_synced(group: ClassicGroup, member: Member) -> None:
    if group.syncing is not None:
        group.syncing.missing.pop(member.member_id, None)


def _await_assignment(group: ClassicGroup, member: Member, asked: Sync) -> None:
    """A request that still waits is over: its client asked anew."""
    group.answer_sync(member, SyncResult(ErrorCode.REBALANCE_IN_PROGRESS))
    member.sync = asked.reply
    if member.member_id == group.members.leader_id:
        assignments = {each: asked.assignments.get(each, b"") for each in group.members.ids()}
        assigned = Assigned(group.generation_id, member.member_id, assignments)
        group.emit(Store(value_of(group, assignments), assigned))


def _assign(group: ClassicGroup, assigned: Assigned, at: Moment) -> None:
    """All who ask get it from now on (setAndPropagateAssignment).

    The session of each that waited begins again: it could not show itself meanwhile.
    """
    for member in group.members:
        member.assignment = assigned.assignments[member.member_id]
        if group.answer_sync(member, _assignment(group, member)):
            group.renew_session(member, at)
    why = f"the assignment of leader {assigned.leader_id} is stored"
    group.enter(Stable(group.syncing), why, at)


def _assignment(group: ClassicGroup, member: Member) -> SyncResult:
    return SyncResult(ErrorCode.NONE, group.protocol_type, group.protocol_name, member.assignment)
