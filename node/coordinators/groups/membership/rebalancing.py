"""From one generation to the next: who is waited for, for how long, and what all are told then."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership.effects import Emptied, Store
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.members import Member
from logquake.node.coordinators.groups.membership.record import value_of
from logquake.node.coordinators.groups.membership.states import (
    CompletingRebalance,
    Empty,
    InitialDelay,
    PreparingRebalance,
    Rejoining,
    Stable,
    Syncing,
)
from logquake.node.coordinators.groups.membership.values import (
    JoinedMember,
    JoinResult,
    Moment,
    SyncResult,
)
from logquake.wire.errors import ErrorCode


def prepare_unless_preparing(group: ClassicGroup, why: str, at: Moment) -> None:
    """maybePrepareRebalance."""
    if isinstance(group.state, Empty | CompletingRebalance | Stable):
        prepare(group, why, at)


def prepare(group: ClassicGroup, why: str, at: Moment) -> None:
    """Wait for all members to join anew (prepareRebalance)."""
    if isinstance(group.state, CompletingRebalance):
        refuse_assignments(group, ErrorCode.REBALANCE_IN_PROGRESS, at)
    wait = _initial_delay(group, at) if group.is_empty else _rejoining(group, at)
    group.expect(wait.deadline_ms)
    group.enter(PreparingRebalance(wait), why, at)
    complete_if_all_joined(group, at)


def complete_if_all_joined(group: ClassicGroup, at: Moment) -> None:
    """tryCompleteJoin; the delay of a group that forms ends with its time alone."""
    if (
        isinstance(group.state, PreparingRebalance)
        and isinstance(group.state.wait, Rejoining)
        and group.has_all_joined
    ):
        complete(group, "all members joined", at)


def end_wait(group: ClassicGroup, preparing: PreparingRebalance, at: Moment) -> None:
    """The deadline has come: who is there makes the generation, unless a group still forms."""
    wait = preparing.wait
    if isinstance(wait, InitialDelay) and group.member_added and wait.remaining_ms:
        group.member_added = False
        preparing.wait = _further_delay(group, wait, at)
        group.expect(preparing.wait.deadline_ms)
    elif isinstance(wait, InitialDelay):
        complete(group, "the initial delay is over", at)
    else:
        complete(group, "the rebalance time-out is over", at)


def complete(group: ClassicGroup, why: str, at: Moment) -> None:
    """Begin the generation of those who joined (onCompleteJoin).

    A dynamic member that did not is none any more; a static one stays until its session ends. If
    only such are left, the group waits on.
    """
    for absent in [each for each in group.members if each.join is None and not each.is_static]:
        group.forget(absent.member_id)
    if not len(group.members):
        _become_empty(group, at)
    elif group.members.elect_joined_leader():
        _begin_generation(group, why, at)
    elif isinstance(group.state, PreparingRebalance):
        group.state.wait = _rejoining(group, at)
        group.expect(group.state.wait.deadline_ms)


def remove(group: ClassicGroup, member: Member, why: str, at: Moment) -> None:
    """It is a member no longer, and the others rebalance (removeMemberAndUpdateGroup)."""
    group.forget(member.member_id)
    prepare_unless_preparing(group, why, at)
    complete_if_all_joined(group, at)


def refuse_assignments(group: ClassicGroup, error: ErrorCode, at: Moment) -> None:
    """Who waits for an assignment gets none, and joins anew (resetAndPropagateAssignmentError)."""
    for member in group.members:
        member.assignment = b""
        if group.answer_sync(member, SyncResult(error)):
            group.renew_session(member, at)


def current_generation(group: ClassicGroup, member: Member) -> JoinResult:
    """What a member is told of it; its leader is told of all members."""
    leads = group.members.leader_id == member.member_id
    return JoinResult(
        ErrorCode.NONE,
        member.member_id,
        group.generation_id,
        group.protocol_type,
        group.protocol_name,
        group.members.leader_id,
        members=members_for_leader(group) if leads else (),
    )


def members_for_leader(group: ClassicGroup) -> tuple[JoinedMember, ...]:
    name = group.protocol_name
    return tuple(
        JoinedMember(each.member_id, each.group_instance_id, each.metadata(name))
        for each in group.members
    )


def _become_empty(group: ClassicGroup, at: Moment) -> None:
    group.generation_id += 1
    group.protocol_name = None
    group.note_subscriptions()
    group.enter(Empty(), "no member is left", at)
    group.emit(Store(value_of(group, {}), Emptied()))


def _begin_generation(group: ClassicGroup, why: str, at: Moment) -> None:
    group.generation_id += 1
    group.protocol_name = group.members.choose_protocol()
    group.note_subscriptions()
    syncing = Syncing(
        at.now_ms + group.members.rebalance_timeout_ms, dict.fromkeys(group.members.ids())
    )
    group.expect(syncing.deadline_ms)
    group.enter(CompletingRebalance(syncing), f"{why}: {_described(group)}", at)
    for member in group.members:
        group.answer_join(member, current_generation(group, member))
        group.renew_session(member, at)
        member.is_new = False


def _described(group: ClassicGroup) -> str:
    count = len(group.members)
    members = "1 member" if count == 1 else f"{count} members"
    return f"{members}, protocol {group.protocol_name}, leader {group.members.leader_id}"


def _rejoining(group: ClassicGroup, at: Moment) -> Rejoining:
    return Rejoining(at.now_ms + group.members.rebalance_timeout_ms)


def _initial_delay(group: ClassicGroup, at: Moment) -> InitialDelay:
    delay_ms = group.settings.initial_rebalance_delay_ms
    remaining_ms = max(group.members.rebalance_timeout_ms - delay_ms, 0)
    return InitialDelay(at.now_ms + delay_ms, delay_ms, remaining_ms)


def _further_delay(group: ClassicGroup, over: InitialDelay, at: Moment) -> InitialDelay:
    """As InitialDelayedJoin: what remains is counted down by the delay that is over."""
    delay_ms = min(group.settings.initial_rebalance_delay_ms, over.remaining_ms)
    remaining_ms = max(over.remaining_ms - over.delay_ms, 0)
    return InitialDelay(at.now_ms + delay_ms, delay_ms, remaining_ms)
