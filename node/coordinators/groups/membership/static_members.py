"""A static member comes back under a new id, and takes the place of the old one (KIP-345).

It was restarted, or another one bears the same instance id: then the elder is fenced. A stable
group whose protocol does not change by it keeps its generation, and assigns nothing anew.
"""

from __future__ import annotations

from logquake.node.coordinators.groups.membership import rebalancing
from logquake.node.coordinators.groups.membership.effects import AnswerJoin, Replaced, Store
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.members import Member
from logquake.node.coordinators.groups.membership.record import value_of
from logquake.node.coordinators.groups.membership.states import CompletingRebalance, Stable
from logquake.node.coordinators.groups.membership.values import (
    Join,
    JoinResult,
    Moment,
    SyncResult,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_MEMBER_ID


def replace(group: ClassicGroup, old_member_id: str, asked: Join, at: Moment) -> None:
    """updateStaticMemberAndRebalance."""
    member = group.members[old_member_id]
    replaced = Replaced(
        member,
        asked,
        old_member_id,
        member.session_timeout_ms,
        member.rebalance_timeout_ms,
        group.members.leader_id,
    )
    _take_place(group, member, asked.new_member_id)
    group.renew_session(member, at)
    group.members.update(member, asked)
    group.members.let_join(member, asked.reply)
    if isinstance(group.state, CompletingRebalance):
        # The leader assigns to the old id, if it was told already: the new one would get nothing.
        why = f"static member {asked.new_member_id} came back while all wait for their assignment"
        rebalancing.prepare(group, f"{why}: {asked.reason}", at)
    elif isinstance(group.state, Stable):
        _keep_generation(group, replaced, at)


def stored(group: ClassicGroup, replaced: Replaced, error: ErrorCode, at: Moment) -> None:
    """The new id is in the log, or it is not: then the old one is the member's again.

    A leader that would be told of all members is told of the next generation, if that is prepared.
    """
    member, asked = replaced.member, replaced.join
    if member.join is not asked.reply:
        return  # it was answered meanwhile: fenced by a third, removed, or a rebalance completed
    if error:
        group.members.take_join(member)
        group.emit(AnswerJoin(asked.reply, _refusal(group, replaced, error)))
        if group.members.id_of_instance(asked.group_instance_id) == member.member_id:
            _give_place_back(group, replaced, at)
    elif not (group.is_preparing and _may_skip(group, replaced)):
        group.answer_join(member, _answer(group, replaced))


def _take_place(group: ClassicGroup, member: Member, member_id: str) -> None:
    """Whoever still waits under the old id is fenced at once (replaceStaticMember)."""
    group.answer_join(member, JoinResult(ErrorCode.FENCED_INSTANCE_ID, member.member_id))
    group.answer_sync(member, SyncResult(ErrorCode.FENCED_INSTANCE_ID))
    group.members.rename(member, member_id)


def _keep_generation(group: ClassicGroup, replaced: Replaced, at: Moment) -> None:
    if group.members.choose_protocol() == group.protocol_name:
        assignments = {each.member_id: each.assignment for each in group.members}
        group.emit(Store(value_of(group, assignments), replaced))
        return
    asked = replaced.join
    why = f"static member {asked.new_member_id} came back, and the protocol changes by it"
    rebalancing.prepare_unless_preparing(group, f"{why}: {asked.reason}", at)


def _answer(group: ClassicGroup, replaced: Replaced) -> JoinResult:
    """The generation that goes on.

    Its leader must not assign: a stable group tells nobody. Since version 9 it is told so
    (KIP-814), and of all members, for it watches their topics; before, that the old id leads,
    which it is not.
    """
    member_id = replaced.join.new_member_id
    may_skip = _may_skip(group, replaced)
    return JoinResult(
        ErrorCode.NONE,
        member_id,
        group.generation_id,
        group.protocol_type,
        group.protocol_name,
        group.members.leader_id if replaced.join.can_skip_assignment else replaced.leader_id,
        skip_assignment=may_skip,
        members=rebalancing.members_for_leader(group) if may_skip else (),
    )


def _may_skip(group: ClassicGroup, replaced: Replaced) -> bool:
    """Whether it leads and is told that there is nothing to assign."""
    asked = replaced.join
    return asked.can_skip_assignment and group.members.leader_id == asked.new_member_id


def _refusal(group: ClassicGroup, replaced: Replaced, error: ErrorCode) -> JoinResult:
    return JoinResult(
        error,
        UNKNOWN_MEMBER_ID,
        group.generation_id,
        group.protocol_type,
        group.protocol_name,
        replaced.leader_id,
    )


def _give_place_back(group: ClassicGroup, replaced: Replaced, at: Moment) -> None:
    """With its old time-outs; its new protocols stay, as in Kafka."""
    member = replaced.member
    member.session_timeout_ms = replaced.old_session_timeout_ms
    member.rebalance_timeout_ms = replaced.old_rebalance_timeout_ms
    _take_place(group, member, replaced.old_member_id)
    group.renew_session(member, at)
