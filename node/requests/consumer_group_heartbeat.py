"""ConsumerGroupHeartbeat (68), version 0: refused.

A Kafka 3.9 in ZooKeeper mode tells of it in ApiVersions and refuses it: its group coordinator is
the old one. Clients then know that groups of KIP-848 are not to be had.
Absent: those groups.
"""

from __future__ import annotations

from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.consumer_group import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


class ConsumerGroupHeartbeat(Handler[ConsumerGroupHeartbeatRequest]):
    key = ApiKey.CONSUMER_GROUP_HEARTBEAT
    versions = range(1)

    def handle(self, request: Request, _body: ConsumerGroupHeartbeatRequest) -> None:
        request.reply(ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
