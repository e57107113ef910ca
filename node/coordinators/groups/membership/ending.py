"""A group ceases to be here."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.states import Dead
from logquake.node.coordinators.groups.membership.values import JoinResult, Moment, SyncResult
from logquake.wire.errors import ErrorCode


def delete(group: ClassicGroup, why: str, at: Moment) -> None:
    """It must be empty: an administrator deletes it, or it has neither members nor offsets."""
    group.enter(Dead(), why, at)


def unload(group: ClassicGroup, at: Moment) -> None:
    """Another broker coordinates it now: who waits is to ask there (onGroupUnloaded)."""
    for member in group.members:
        group.answer_join(member, JoinResult(ErrorCode.NOT_COORDINATOR, member.member_id))
        group.answer_sync(member, SyncResult(ErrorCode.NOT_COORDINATOR))
    group.enter(Dead(), "another broker coordinates the group", at)
