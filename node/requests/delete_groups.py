"""DeleteGroups (42), versions 0-2: deletes groups without members, with their offsets (KIP-229)."""

from __future__ import annotations

from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.messages.group_admin import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


class DeleteGroups(Handler[DeleteGroupsRequest]):
    key = ApiKey.DELETE_GROUPS
    versions = range(3)

    def __init__(self, members: MemberManager) -> None:
        self._members = members

    def handle(self, request: Request, body: DeleteGroupsRequest) -> None:
        """One that is named twice is answered once."""
        results = [
            DeletableGroupResult(group_id=group_id, error_code=self._members.delete(group_id))
            for group_id in dict.fromkeys(body.groups_names)
        ]
        request.reply(DeleteGroupsResponse(results=results))
