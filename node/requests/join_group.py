"""JoinGroup (11), versions 0-9: a member joins the next generation of its group.

The answer waits until all members have joined, or their time is over. KIP-394 (v4) gives who is
new an id before it may join; KIP-345 (v5) has static members; KIP-559 (v7) tells the protocol type;
KIP-800 (v8) takes a reason, for the journal; KIP-814 (v9) lets a static leader that came back skip
the assignment.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.coordinators.groups.membership.values import (
    Join,
    JoinResult,
    Protocol,
)
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.java_text import inet_address
from logquake.wire.messages.group_membership import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from logquake.wire.sentinels import UNKNOWN_MEMBER_ID

_FIRST_VERSION_WITH_REBALANCE_TIMEOUT = 1
_FIRST_VERSION_THAT_GIVES_IDS = 4
_FIRST_VERSION_WITHOUT_PROTOCOL = 7  # null, where it was the empty string
_FIRST_VERSION_THAT_SKIPS = 9
_MAX_STRING_BYTES = 32_767
_MAX_REASON = 255  # characters, as Kafka's own clients cut it
_NO_REASON = "not provided"


class JoinGroup(Handler[JoinGroupRequest]):
    key = ApiKey.JOIN_GROUP
    versions = range(10)

    def __init__(self, members: MemberManager, unique: Callable[[], str]) -> None:
        """unique() makes the part of a member's id that nobody else has."""
        self._members = members
        self._unique = unique

    def handle(self, request: Request, body: JoinGroupRequest) -> None:
        version = request.header.api_version

        def reply(result: JoinResult) -> None:
            request.reply(_response(result, version))

        asked = Join(
            body.member_id,
            body.group_instance_id,
            request.header.client_id or "",
            inet_address(request.client_host),
            body.session_timeout_ms,
            body.rebalance_timeout_ms
            if version >= _FIRST_VERSION_WITH_REBALANCE_TIMEOUT
            else body.session_timeout_ms,
            body.protocol_type,
            _protocols(body),
            (body.reason or _NO_REASON)[:_MAX_REASON],
            self._unique(),
            needs_member_id=version >= _FIRST_VERSION_THAT_GIVES_IDS
            and body.group_instance_id is None,
            can_skip_assignment=version >= _FIRST_VERSION_THAT_SKIPS,
            reply=reply,
        )
        if len(asked.new_member_id.encode()) > _MAX_STRING_BYTES:
            reply(JoinResult(ErrorCode.UNKNOWN_SERVER_ERROR, UNKNOWN_MEMBER_ID))
        else:
            self._members.join(body.group_id, asked)


def _protocols(body: JoinGroupRequest) -> tuple[Protocol, ...]:
    """One that is named twice counts once: who knows a protocol is counted."""
    by_name: dict[str, Protocol] = {}
    for each in body.protocols:
        by_name.setdefault(each.name, Protocol(each.name, each.metadata))
    return tuple(by_name.values())


def _response(result: JoinResult, version: int) -> JoinGroupResponse:
    is_nullable = version >= _FIRST_VERSION_WITHOUT_PROTOCOL
    return JoinGroupResponse(
        error_code=result.error,
        generation_id=result.generation_id,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name or (None if is_nullable else ""),
        leader=result.leader_id or "",
        skip_assignment=result.skip_assignment,
        member_id=result.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=each.member_id,
                group_instance_id=each.group_instance_id,
                metadata=each.metadata,
            )
            for each in result.members
        ],
    )
