"""Membership of classic consumer groups: join, sync, heartbeat, leave."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    binary,
    boolean,
    int16,
    int32,
    string,
)


class JoinGroupRequestProtocol(Struct):
    name: str = string()
    metadata: bytes = binary()


class JoinGroupRequest(Message, key=11, versions="0-9", flexible="6+"):
    """A member joins, or rejoins, the next generation of its group.

    1: rebalance_timeout_ms (KIP-62). 4: a new member is sent back with its id first (KIP-394).
    5: group_instance_id (KIP-345). 6: flexible. 8: reason (KIP-800).
    """

    group_id: str = string()
    session_timeout_ms: int = int32()
    rebalance_timeout_ms: int = int32("1+", default=-1, ignorable=True)
    member_id: str = string()
    group_instance_id: str | None = string("5+", nullable="5+", default=None)
    protocol_type: str = string()
    protocols: list[JoinGroupRequestProtocol] = array(JoinGroupRequestProtocol)
    reason: str | None = string("8+", nullable="8+", default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    member_id: str = string()
    group_instance_id: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    metadata: bytes = binary()


class JoinGroupResponse(Message, key=11, versions="0-9", flexible="6+"):
    """The generation, and for the leader all members with their subscriptions.

    2: throttle time. 4: MEMBER_ID_REQUIRED (KIP-394). 5: group_instance_id (KIP-345). 6:
    flexible. 7: protocol_type (KIP-559). 9: skip_assignment, for a static leader that returns
    (KIP-814).
    """

    throttle_time_ms: int = int32("2+", ignorable=True)
    error_code: int = int16()
    generation_id: int = int32(default=-1)
    protocol_type: str | None = string("7+", nullable="7+", default=None, ignorable=True)
    protocol_name: str | None = string(nullable="7+")
    leader: str = string()
    skip_assignment: bool = boolean("9+")
    member_id: str = string()
    members: list[JoinGroupResponseMember] = array(JoinGroupResponseMember)


class HeartbeatRequest(Message, key=12, versions="0-4", flexible="4+"):
    """A member is alive.

    3: group_instance_id (KIP-345). 4: flexible.
    """

    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string("3+", nullable="3+", default=None)


class HeartbeatResponse(Message, key=12, versions="0-4", flexible="4+"):
    """NONE, or what the member must do, such as REBALANCE_IN_PROGRESS.

    1: throttle time. 4: flexible.
    """

    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16()


class MemberIdentity(Struct):
    member_id: str = string("3+")
    group_instance_id: str | None = string("3+", nullable="3+", default=None)
    reason: str | None = string("5+", nullable="5+", default=None, ignorable=True)


class LeaveGroupRequest(Message, key=13, versions="0-5", flexible="4+"):
    """A member leaves at once instead of timing out.

    3: several members, by id or instance id (KIP-345). 4: flexible. 5: reason (KIP-800).
    """

    group_id: str = string()
    member_id: str = string("0-2")
    members: list[MemberIdentity] = array(MemberIdentity, "3+")


class MemberResponse(Struct):
    member_id: str = string("3+")
    group_instance_id: str | None = string("3+", nullable="3+")
    error_code: int = int16("3+")


class LeaveGroupResponse(Message, key=13, versions="0-5", flexible="4+"):
    """An error for the whole and, from 3 on, one a member.

    1: throttle time. 4: flexible.
    """

    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16()
    members: list[MemberResponse] = array(MemberResponse, "3+")


class SyncGroupRequestAssignment(Struct):
    member_id: str = string()
    assignment: bytes = binary()


class SyncGroupRequest(Message, key=14, versions="0-5", flexible="4+"):
    """The leader hands in the assignment, the others wait for theirs.

    3: group_instance_id (KIP-345). 4: flexible. 5: protocol type and name, which must agree
    with the group's (KIP-559).
    """

    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string("3+", nullable="3+", default=None)
    protocol_type: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment] = array(SyncGroupRequestAssignment)


class SyncGroupResponse(Message, key=14, versions="0-5", flexible="4+"):
    """The member's assignment.

    1: throttle time. 4: flexible. 5: protocol type and name (KIP-559).
    """

    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16()
    protocol_type: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    assignment: bytes = binary()
