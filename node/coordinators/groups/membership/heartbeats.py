"""A member says that it is alive, by a Heartbeat or by committing offsets."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.states import CompletingRebalance
from logquake.node.coordinators.groups.membership.values import Moment
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_MEMBER_ID


def member_error(group: ClassicGroup, member_id: str, instance_id: str | None) -> ErrorCode:
    """Whether one with these ids is a member (validateCurrentMember).

    A static member that another one took the place of is fenced (KIP-345).
    """
    if instance_id is not None:
        current = group.members.id_of_instance(instance_id)
        if current is not None and current != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
        if current is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE if member_id in group.members else ErrorCode.UNKNOWN_MEMBER_ID


def generation_error(
    group: ClassicGroup, member_id: str, instance_id: str | None, generation_id: int
) -> ErrorCode:
    """Whether that is a member, and it speaks of the present generation."""
    error = member_error(group, member_id, instance_id)
    if not error and generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    return error


def heartbeat(
    group: ClassicGroup, member_id: str, instance_id: str | None, generation_id: int, at: Moment
) -> ErrorCode:
    """What the member is to do (handleHeartbeat)."""
    error = generation_error(group, member_id, instance_id, generation_id)
    if error:
        return error
    group.renew_session(group.members[member_id], at)
    return ErrorCode.REBALANCE_IN_PROGRESS if group.is_preparing else ErrorCode.NONE


def commit_error(
    group: ClassicGroup,
    member_id: str,
    instance_id: str | None,
    generation_id: int,
    *,
    transactional: bool,
) -> ErrorCode:
    """Whether offsets may be committed (validateOffsetCommit and doCommitOffsets).

    By anybody where there is no member; else by members alone, and transactions of old clients,
    which do not say who they are (KIP-447 made them). Not between a generation's begin and its
    assignment.
    """
    if generation_id < 0 and group.is_empty:
        return ErrorCode.NONE
    named = generation_id >= 0 or member_id != UNKNOWN_MEMBER_ID or instance_id is not None
    if named:
        error = generation_error(group, member_id, instance_id, generation_id)
    elif transactional or group.is_empty:
        error = ErrorCode.NONE
    else:
        error = ErrorCode.UNKNOWN_MEMBER_ID
    if not error and not transactional and isinstance(group.state, CompletingRebalance):
        return ErrorCode.REBALANCE_IN_PROGRESS
    return error


def note_commit(group: ClassicGroup, member_id: str, at: Moment) -> None:
    """A member that commits is alive; of a transaction that is not taken to be said."""
    if member_id in group.members:
        group.renew_session(group.members[member_id], at)
