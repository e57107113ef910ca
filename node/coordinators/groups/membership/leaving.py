"""A member leaves by itself, or is taken out by an administrator (handleLeaveGroup)."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership import rebalancing
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.heartbeats import member_error
from logquake.node.coordinators.groups.membership.values import Leaver, Moment
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_MEMBER_ID


def leave(group: ClassicGroup, leaver: Leaver, at: Moment) -> ErrorCode:
    """Of those who leave together, one."""
    if leaver.member_id == UNKNOWN_MEMBER_ID:
        member_id = group.members.id_of_instance(leaver.group_instance_id)
        if member_id is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
    elif leaver.member_id in group.pending:
        group.forget(leaver.member_id)
        rebalancing.complete_if_all_joined(group, at)
        return ErrorCode.NONE
    else:
        member_id = leaver.member_id
        error = member_error(group, member_id, leaver.group_instance_id)
        if error:
            return error
    why = f"member {member_id} left: {leaver.reason}"
    rebalancing.remove(group, group.members[member_id], why, at)
    return ErrorCode.NONE
