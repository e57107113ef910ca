"""The requests of a member to its coordinator (AbstractCoordinator's requests)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from logquake.client.consumer.assignors.subscriptions import CONSUMERS
from logquake.client.consumer.group.generation import EncodedAssignment, Generation
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.unsent import Done, Question
from logquake.wire.messages.group_membership import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

_MAX_REASON_CHARS = 255
_FIRST_OF_SEVERAL_LEAVING = 3
# The first versions that identify static members.
_FIRST_STATIC_JOIN = 5
_FIRST_STATIC_SYNC = 3
_FIRST_STATIC_HEARTBEAT = 3
_JOIN_SLACK_MS = 5_000  # JOIN_GROUP_TIMEOUT_LAPSE


def join(
    settings: GroupSettings,
    generation: Generation,
    wishes: Mapping[str, bytes],
    reason: str,
    done: Done,
) -> Question:
    """``wishes`` are by assignor, in order of preference. The coordinator responds when the others
    have joined, or their time is up.
    """
    message = JoinGroupRequest(
        group_id=settings.group_id,
        session_timeout_ms=settings.session_timeout_ms,
        rebalance_timeout_ms=settings.max_poll_interval_ms,
        member_id=generation.member_id,
        group_instance_id=settings.instance_id,
        protocol_type=CONSUMERS,
        protocols=[
            JoinGroupRequestProtocol(name=name, metadata=wish) for name, wish in wishes.items()
        ],
        reason=reason[:_MAX_REASON_CHARS],
    )
    return Question(
        JoinGroupRequest,
        JoinGroupResponse,
        lambda _: message,
        done,
        max(settings.request_timeout_ms, settings.max_poll_interval_ms + _JOIN_SLACK_MS),
        _FIRST_STATIC_JOIN if settings.instance_id else 0,
    )


def sync(
    settings: GroupSettings, generation: Generation, given: EncodedAssignment, done: Done
) -> Question:
    """``given`` is empty unless the member leads."""
    message = SyncGroupRequest(
        group_id=settings.group_id,
        generation_id=generation.id,
        member_id=generation.member_id,
        group_instance_id=settings.instance_id,
        protocol_type=CONSUMERS,
        protocol_name=generation.protocol,
        assignments=[
            SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)
            for member_id, assignment in given.items()
        ],
    )
    at_least = _FIRST_STATIC_SYNC if settings.instance_id else 0
    return Question(SyncGroupRequest, SyncGroupResponse, lambda _: message, done, at_least=at_least)


def heartbeat(settings: GroupSettings, generation: Generation, done: Done) -> Question:
    message = HeartbeatRequest(
        group_id=settings.group_id,
        generation_id=generation.id,
        member_id=generation.member_id,
        group_instance_id=settings.instance_id,
    )
    at_least = _FIRST_STATIC_HEARTBEAT if settings.instance_id else 0
    return Question(HeartbeatRequest, HeartbeatResponse, lambda _: message, done, at_least=at_least)


def leave(settings: GroupSettings, generation: Generation, reason: str) -> Question:
    """The response is ignored."""
    build = partial(_leave, settings.group_id, generation.member_id, reason)
    return Question(LeaveGroupRequest, LeaveGroupResponse, build, lambda *_: None)


def _leave(group_id: str, member_id: str, reason: str, version: int) -> LeaveGroupRequest:
    if version < _FIRST_OF_SEVERAL_LEAVING:
        return LeaveGroupRequest(group_id=group_id, member_id=member_id)
    member = MemberIdentity(member_id=member_id, reason=reason[:_MAX_REASON_CHARS])
    return LeaveGroupRequest(group_id=group_id, members=[member])
