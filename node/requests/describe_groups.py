"""DescribeGroups (15), versions 0-5: state and members of classic groups.

A group that is not there is described as Dead; what members said and were assigned is told of a
stable group alone. KIP-430 (v3) tells what the asker may do; KIP-345 (v4) instance ids.
"""

from __future__ import annotations

from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.requests.authorized_operations import ON_GROUP
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.messages.group_admin import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)


class DescribeGroups(Handler[DescribeGroupsRequest]):
    key = ApiKey.DESCRIBE_GROUPS
    versions = range(6)

    def __init__(self, members: MemberManager) -> None:
        self._members = members

    def handle(self, request: Request, body: DescribeGroupsRequest) -> None:
        groups = [self._members.describe(group_id) for group_id in body.groups]
        if body.include_authorized_operations:
            _tell_operations(groups)
        request.reply(DescribeGroupsResponse(groups=groups))


def _tell_operations(groups: list[DescribedGroup]) -> None:
    for group in groups:
        if not group.error_code:
            group.authorized_operations = ON_GROUP
