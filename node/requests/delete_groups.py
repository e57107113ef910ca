"""DeleteGroups (42), versions 0-2: deletes groups without members, with their offsets (KIP-229)."""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_admin import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


class DeleteGroups(Handler[DeleteGroupsRequest]):
    key = ApiKey.DELETE_GROUPS
    versions = range(3)

    def __init__(self, members: MemberManager, authorizer: Authorizer) -> None:
        self._members = members
        self._authorizer = authorizer

    def handle(self, request: Request, body: DeleteGroupsRequest) -> None:
        """One that is named twice is answered once."""
        named = dict.fromkeys(body.groups_names)
        denied = self._authorizer.denied(request, AclOperation.DELETE, ResourceType.GROUP, named)
        outcomes = {
            group_id: ErrorCode.GROUP_AUTHORIZATION_FAILED
            if group_id in denied
            else self._members.delete(group_id)
            for group_id in named
        }
        request.reply(
            DeleteGroupsResponse(
                results=[
                    DeletableGroupResult(group_id=group_id, error_code=error)
                    for group_id, error in outcomes.items()
                ]
            )
        )
