"""ListGroups (16), versions 0-5: the groups that this broker coordinates.

KIP-518 (v4) filters by state, KIP-848 (v5) by type; here all are classic.
"""

from __future__ import annotations

from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.messages.group_admin import ListGroupsRequest, ListGroupsResponse


class ListGroups(Handler[ListGroupsRequest]):
    key = ApiKey.LIST_GROUPS
    versions = range(6)

    def __init__(self, members: MemberManager) -> None:
        self._members = members

    def handle(self, request: Request, body: ListGroupsRequest) -> None:
        error, groups = self._members.list_groups(body.states_filter, body.types_filter)
        request.reply(ListGroupsResponse(error_code=error, groups=groups))
