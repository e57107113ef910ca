"""ConsumerGroupDescribe (69), version 0: refused for each group.

As a Kafka 3.9 in ZooKeeper mode does, which tells of it in ApiVersions: admin clients ask for the
groups of KIP-848 first, and are then content with DescribeGroups.
Absent: those groups.
"""

from __future__ import annotations

from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.consumer_group import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)


class ConsumerGroupDescribe(Handler[ConsumerGroupDescribeRequest]):
    key = ApiKey.CONSUMER_GROUP_DESCRIBE
    versions = range(1)

    def handle(self, request: Request, body: ConsumerGroupDescribeRequest) -> None:
        refused = [
            DescribedGroup(group_id=group_id, error_code=ErrorCode.UNSUPPORTED_VERSION)
            for group_id in body.group_ids
        ]
        request.reply(ConsumerGroupDescribeResponse(groups=refused))
