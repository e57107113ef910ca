"""ListGroups (16), versions 0-5: the groups that this broker coordinates.

KIP-518 (v4) filters by state, KIP-848 (v5) by type; here all are classic.
Who may not describe the cluster is told of the groups that it may describe.
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.messages.group_admin import ListGroupsRequest, ListGroupsResponse


class ListGroups(Handler[ListGroupsRequest]):
    key = ApiKey.LIST_GROUPS
    versions = range(6)

    def __init__(self, members: MemberManager, authorizer: Authorizer) -> None:
        self._members = members
        self._authorizer = authorizer

    def handle(self, request: Request, body: ListGroupsRequest) -> None:
        error, groups = self._members.list_groups(body.states_filter, body.types_filter)
        if not self._authorizer.allows_on_cluster(request, AclOperation.DESCRIBE):
            ids = (group.group_id for group in groups)
            hidden = self._authorizer.denied(
                request, AclOperation.DESCRIBE, ResourceType.GROUP, ids
            )
            groups = [group for group in groups if group.group_id not in hidden]
        request.reply(ListGroupsResponse(error_code=error, groups=groups))
