"""DescribeGroups (15), versions 0-5: state and members of classic groups.

A group that is not there is described as Dead; what members said and were assigned is told of a
stable group alone. KIP-430 (v3) tells what the asker may do; KIP-345 (v4) instance ids.
Groups that the asker may not describe come first, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.groups.member_manager import MemberManager
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_admin import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)


class DescribeGroups(Handler[DescribeGroupsRequest]):
    key = ApiKey.DESCRIBE_GROUPS
    versions = range(6)

    def __init__(self, members: MemberManager, authorizer: Authorizer) -> None:
        self._members = members
        self._authorizer = authorizer

    def handle(self, request: Request, body: DescribeGroupsRequest) -> None:
        denied = self._authorizer.denied(
            request, AclOperation.DESCRIBE, ResourceType.GROUP, body.groups
        )
        refused = [_refused(group_id) for group_id in body.groups if group_id in denied]
        groups = [self._members.describe(each) for each in body.groups if each not in denied]
        if body.include_authorized_operations:
            self._tell_operations(request, groups)
        request.reply(DescribeGroupsResponse(groups=[*refused, *groups]))

    def _tell_operations(self, request: Request, groups: Iterable[DescribedGroup]) -> None:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = self._authorizer.operations(
                    request, ResourceType.GROUP, group.group_id
                )


def _refused(group_id: str) -> DescribedGroup:
    return DescribedGroup(group_id=group_id, error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
