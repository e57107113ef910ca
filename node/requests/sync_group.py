"""SyncGroup (14), versions 0-5: the leader brings the assignment of a generation, the others ask.

Nobody is answered before the assignment is stored. KIP-345 (v3) has static members; KIP-559 (v5)
wants the protocol's type and name, which must be the group's.
"""

from __future__ import annotations

from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.coordinators.groups.membership.values import Sync, SyncResult
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_membership import SyncGroupRequest, SyncGroupResponse

_FIRST_VERSION_WITH_PROTOCOL = 5


class SyncGroup(Handler[SyncGroupRequest]):
    key = ApiKey.SYNC_GROUP
    versions = range(6)

    def __init__(self, members: MemberManager) -> None:
        self._members = members

    def handle(self, request: Request, body: SyncGroupRequest) -> None:
        def reply(result: SyncResult) -> None:
            request.reply(_response(result))

        has_protocol = body.protocol_type is not None and body.protocol_name is not None
        if request.header.api_version >= _FIRST_VERSION_WITH_PROTOCOL and not has_protocol:
            reply(SyncResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
            return
        asked = Sync(
            body.member_id,
            body.group_instance_id,
            body.generation_id,
            body.protocol_type,
            body.protocol_name,
            {each.member_id: each.assignment for each in body.assignments},
            reply,
        )
        self._members.sync(body.group_id, asked)


def _response(result: SyncResult) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=result.error,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name,
        assignment=result.assignment,
    )
