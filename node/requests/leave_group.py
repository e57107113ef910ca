"""LeaveGroup (13), versions 0-5: members leave at once, or an administrator takes them out.

KIP-345 (v3) has several in one request, static ones by their instance id alone; KIP-800 (v5) takes
a reason, for the journal.
"""

from __future__ import annotations

from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.coordinators.groups.membership.values import Leaver
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_membership import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)

_FIRST_VERSION_WITH_MEMBERS = 3
_NO_REASON = "not provided"
_MAX_REASON = 255  # characters, as Kafka's own clients cut it


class LeaveGroup(Handler[LeaveGroupRequest]):
    key = ApiKey.LEAVE_GROUP
    versions = range(6)

    def __init__(self, members: MemberManager) -> None:
        self._members = members

    def handle(self, request: Request, body: LeaveGroupRequest) -> None:
        has_members = request.header.api_version >= _FIRST_VERSION_WITH_MEMBERS
        leaving = body.members if has_members else [MemberIdentity(member_id=body.member_id)]
        errors = self._members.leave(body.group_id, [_leaver(each) for each in leaving])
        if isinstance(errors, ErrorCode):
            response = LeaveGroupResponse(error_code=errors)
        elif has_members:
            response = LeaveGroupResponse(
                members=[_told(each, error) for each, error in zip(leaving, errors, strict=True)]
            )
        else:
            response = LeaveGroupResponse(error_code=errors[0])
        request.reply(response)


def _leaver(identity: MemberIdentity) -> Leaver:
    reason = identity.reason or _NO_REASON
    return Leaver(identity.member_id, identity.group_instance_id, reason[:_MAX_REASON])


def _told(identity: MemberIdentity, error: ErrorCode) -> MemberResponse:
    return MemberResponse(
        member_id=identity.member_id,
        group_instance_id=identity.group_instance_id,
        error_code=error,
    )
