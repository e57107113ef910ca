"""What happens when time passes: sessions end, and nobody is waited for any longer."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.node.coordinators.groups.membership import rebalancing
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.states import PreparingRebalance
from logquake.node.coordinators.groups.membership.values import Moment


def begin_sessions(group: ClassicGroup, at: Moment) -> None:
    """Of a group read from the log: all members have a session's time to show themselves.

    With more of them than are allowed now it rebalances, so that they may commit first
    (onGroupLoaded).
    """
    if len(group.members) > group.settings.max_size:
        why = f"read from the log with more than {group.settings.max_size} members"
        rebalancing.prepare(group, why, at)
    for member in group.members:
        group.renew_session(member, at)


def pass_deadlines(group: ClassicGroup, at: Moment) -> None:
    """Do what is due, and set `wake_ms` anew."""
    _end_pending(group, at)
    _end_sessions(group, at)
    state = group.state
    if isinstance(state, PreparingRebalance) and state.wait.deadline_ms <= at.now_ms:
        rebalancing.end_wait(group, state, at)
    _end_syncing(group, at)
    group.wake_ms = min(_deadlines(group), default=None)


def _end_pending(group: ClassicGroup, at: Moment) -> None:
    """Ids were given, and nobody came back with them."""
    while (member_id := group.pending.overdue(at.now_ms)) is not None:
        group.forget(member_id)
        rebalancing.complete_if_all_joined(group, at)


def _end_sessions(group: ClassicGroup, at: Moment) -> None:
    for member in list(group.members):
        if member.expires_ms is None or member.expires_ms > at.now_ms:
            continue
        if member.is_waiting:
            member.expires_ms = None  # it begins anew when the group has answered
        elif member.member_id in group.members:
            why = f"member {member.member_id} was not heard of for its session time-out"
            rebalancing.remove(group, member, why, at)


def _end_syncing(group: ClassicGroup, at: Moment) -> None:
    """Who has not asked for its assignment is not there (onExpirePendingSync)."""
    syncing = group.syncing
    if syncing is None or not syncing.missing or syncing.deadline_ms > at.now_ms:
        return
    missing = list(syncing.missing)
    for member_id in missing:
        group.forget(member_id)
    why = f"members did not ask for their assignment: {', '.join(missing)}"
    rebalancing.prepare(group, why, at)


def _deadlines(group: ClassicGroup) -> Iterator[int]:
    if group.pending.next_deadline_ms is not None:
        yield group.pending.next_deadline_ms
    for member in group.members:
        if member.expires_ms is not None:
            yield member.expires_ms
    if isinstance(group.state, PreparingRebalance):
        yield group.state.wait.deadline_ms
    if group.syncing is not None and group.syncing.missing:
        yield group.syncing.deadline_ms
