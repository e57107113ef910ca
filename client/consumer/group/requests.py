"""What a member asks its coordinator (AbstractCoordinator's requests)."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client.consumer.assignors.assignor import Assignment
from logquake.client.consumer.assignors.subscriptions import CONSUMERS, encode_assignment
from logquake.client.consumer.group.generation import Generation
from logquake.client.consumer.group.settings import GroupSettings
from logquake.wire.messages.group_membership import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

_MAX_REASON_CHARS = 255
_FIRST_OF_SEVERAL_LEAVING = 3
_FIRST_WITH_INSTANCE_IDS = {JoinGroupRequest: 5, SyncGroupRequest: 3, HeartbeatRequest: 3}
_JOIN_SLACK_MS = 5_000  # JOIN_GROUP_TIMEOUT_LAPSE


def at_least(
    request: type[JoinGroupRequest | SyncGroupRequest | HeartbeatRequest], settings: GroupSettings
) -> int:
    """The first version that can say what there is to say."""
    return _FIRST_WITH_INSTANCE_IDS[request] if settings.instance_id is not None else 0


def join(
    settings: GroupSettings, generation: Generation, wishes: Mapping[str, bytes], reason: str
) -> JoinGroupRequest:
    """``wishes`` by assignor, the one that is liked best first."""
    return JoinGroupRequest(
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


def join_timeout_ms(settings: GroupSettings) -> int:
    """The coordinator answers when the others have come, or their time is over."""
    return max(settings.request_timeout_ms, settings.max_poll_interval_ms + _JOIN_SLACK_MS)


def sync(settings: GroupSettings, generation: Generation, given: Assignment) -> SyncGroupRequest:
    """``given`` is empty of who does not lead."""
    return SyncGroupRequest(
        group_id=settings.group_id,
        generation_id=generation.id,
        member_id=generation.member_id,
        group_instance_id=settings.instance_id,
        protocol_type=CONSUMERS,
        protocol_name=generation.protocol,
        assignments=_assignments(given),
    )


def _assignments(given: Assignment) -> list[SyncGroupRequestAssignment]:
    return [
        SyncGroupRequestAssignment(member_id=member_id, assignment=encode_assignment(places))
        for member_id, places in given.items()
    ]


def heartbeat(settings: GroupSettings, generation: Generation) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=settings.group_id,
        generation_id=generation.id,
        member_id=generation.member_id,
        group_instance_id=settings.instance_id,
    )


def leave(
    settings: GroupSettings, generation: Generation, reason: str, version: int
) -> LeaveGroupRequest:
    if version < _FIRST_OF_SEVERAL_LEAVING:
        return LeaveGroupRequest(group_id=settings.group_id, member_id=generation.member_id)
    member = MemberIdentity(member_id=generation.member_id, reason=reason[:_MAX_REASON_CHARS])
    return LeaveGroupRequest(group_id=settings.group_id, members=[member])
