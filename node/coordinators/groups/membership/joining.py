"""A member joins, for the first time or again (handleJoinGroup)."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership import rebalancing, static_members
from logquake.node.coordinators.groups.membership.effects import AnswerJoin
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.heartbeats import member_error
from logquake.node.coordinators.groups.membership.members import Member, joining_member
from logquake.node.coordinators.groups.membership.states import (
    CompletingRebalance,
    Empty,
    PreparingRebalance,
    Stable,
)
from logquake.node.coordinators.groups.membership.values import (
    Join,
    JoinResult,
    Moment,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_MEMBER_ID

# A new member does not know its id while its JoinGroup waits, so it sends no heartbeats, and that
# its connection is gone is not seen. One that is gone comes again as another; this ends the first.
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000


def join(group: ClassicGroup, asked: Join, at: Moment) -> None:
    is_new = asked.member_id == UNKNOWN_MEMBER_ID
    if not _has_room(group, asked.member_id):
        group.forget(asked.member_id)
        _refuse(group, asked, ErrorCode.GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID)
    elif not group.supports(asked.protocol_type, {known.name for known in asked.protocols}):
        _refuse(group, asked, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, asked.member_id)
    elif is_new:
        _join_first(group, asked, at)
    else:
        _join_again(group, asked, at)
    rebalancing.complete_if_all_joined(group, at)


def _has_room(group: ClassicGroup, member_id: str) -> bool:
    """Whether it may be one of group.max.size (acceptJoiningMember).

    While all join anew the first to come stay: the limit may have been lowered meanwhile.
    """
    members, max_size = group.members, group.settings.max_size
    if isinstance(group.state, PreparingRebalance):
        has_joined = member_id in members and members[member_id].join is not None
        return has_joined or members.joined < max_size
    return isinstance(group.state, Empty) or member_id in members or len(members) < max_size


def _join_first(group: ClassicGroup, asked: Join, at: Moment) -> None:
    replaced = group.members.id_of_instance(asked.group_instance_id)
    if replaced is not None:
        static_members.replace(group, replaced, asked, at)
    elif asked.needs_member_id:
        deadline_ms = at.now_ms + asked.session_timeout_ms
        group.pending.add(asked.new_member_id, deadline_ms)
        group.expect(deadline_ms)
        _refuse(group, asked, ErrorCode.MEMBER_ID_REQUIRED, asked.new_member_id)
    else:
        _add(group, asked, asked.new_member_id, at)


def _join_again(group: ClassicGroup, asked: Join, at: Moment) -> None:
    member_id = asked.member_id
    if member_id in group.pending:
        _join_with_given_id(group, asked, at)
        return
    error = member_error(group, member_id, asked.group_instance_id)
    if error:
        _refuse(group, asked, error, member_id)
        return
    member = group.members[member_id]
    if isinstance(group.state, CompletingRebalance) and member.protocols == asked.protocols:
        # It may be that the answer was lost: it is given again.
        _tell_generation(group, asked, member)
    elif _follows_unchanged(group, asked, member):
        _tell_generation(group, asked, member)
    else:
        _rejoin(group, asked, member, at)


def _follows_unchanged(group: ClassicGroup, asked: Join, member: Member) -> bool:
    """A leader that joins a stable group wants another assignment, for partitions were added say;
    a follower does if what it says has changed."""
    is_leader = group.members.leader_id == member.member_id
    return isinstance(group.state, Stable) and not is_leader and member.protocols == asked.protocols


def _join_with_given_id(group: ClassicGroup, asked: Join, at: Moment) -> None:
    """Ids are given to dynamic members alone; for another Kafka fails on its own exception."""
    if asked.group_instance_id is None:
        _add(group, asked, asked.member_id, at)
    else:
        _refuse(group, asked, ErrorCode.UNKNOWN_SERVER_ERROR, UNKNOWN_MEMBER_ID)


def _add(group: ClassicGroup, asked: Join, member_id: str, at: Moment) -> None:
    """A new member (addMemberAndRebalance)."""
    if group.is_preparing and group.generation_id == 0:
        group.member_added = True
    if not len(group.members):
        group.protocol_type = asked.protocol_type
    group.pending.discard(member_id)
    member = joining_member(asked, member_id)
    group.members.add(member)
    group.members.let_join(member, asked.reply)
    group.expire_after(member, NEW_MEMBER_JOIN_TIMEOUT_MS, at)
    why = f"member {member_id} joined: {asked.reason}"
    rebalancing.prepare_unless_preparing(group, why, at)


def _rejoin(group: ClassicGroup, asked: Join, member: Member, at: Moment) -> None:
    """updateMemberAndRebalance. A request that still waits is over: its client asked anew."""
    group.members.update(member, asked)
    group.answer_join(member, JoinResult(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id))
    group.members.let_join(member, asked.reply)
    role = "leader" if group.members.leader_id == member.member_id else "member"
    why = f"{role} {member.member_id} joined anew: {asked.reason}"
    rebalancing.prepare_unless_preparing(group, why, at)


def _tell_generation(group: ClassicGroup, asked: Join, member: Member) -> None:
    group.emit(AnswerJoin(asked.reply, rebalancing.current_generation(group, member)))


def _refuse(group: ClassicGroup, asked: Join, error: ErrorCode, member_id: str) -> None:
    group.emit(AnswerJoin(asked.reply, JoinResult(error, member_id)))
