"""Heartbeat (12), versions 0-4: a member is alive, and hears whether it is to join anew.

KIP-345 (v3) has static members.
"""

from __future__ import annotations

from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.messages.group_membership import HeartbeatRequest, HeartbeatResponse


class Heartbeat(Handler[HeartbeatRequest]):
    key = ApiKey.HEARTBEAT
    versions = range(5)

    def __init__(self, members: MemberManager) -> None:
        self._members = members

    def handle(self, request: Request, body: HeartbeatRequest) -> None:
        error = self._members.heartbeat(
            body.group_id, body.member_id, body.group_instance_id, body.generation_id
        )
        request.reply(HeartbeatResponse(error_code=error))
