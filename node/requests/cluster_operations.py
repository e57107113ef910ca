"""APIs that are about the cluster as a whole: who may not do so is refused before the handler.

What is decided a resource is the handlers' own matter.
"""

from __future__ import annotations

from typing import Any

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.requests.api_table import Handle
from logquake.node.requests.handler import Handler
from logquake.node.requests.refusals import refused
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.schema import Message

# Which operation on the cluster each needs, or one of which (KafkaApis).
_NEEDED = {
    ApiKey.LEADER_AND_ISR: (AclOperation.CLUSTER_ACTION,),
    ApiKey.STOP_REPLICA: (AclOperation.CLUSTER_ACTION,),
    ApiKey.UPDATE_METADATA: (AclOperation.CLUSTER_ACTION,),
    ApiKey.CONTROLLED_SHUTDOWN: (AclOperation.CLUSTER_ACTION,),
    ApiKey.WRITE_TXN_MARKERS: (AclOperation.ALTER, AclOperation.CLUSTER_ACTION),
    ApiKey.DESCRIBE_ACLS: (AclOperation.DESCRIBE,),
    ApiKey.CREATE_ACLS: (AclOperation.ALTER,),
    ApiKey.DELETE_ACLS: (AclOperation.ALTER,),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (AclOperation.ALTER,),
    ApiKey.DESCRIBE_LOG_DIRS: (AclOperation.DESCRIBE,),
    ApiKey.ELECT_LEADERS: (AclOperation.ALTER,),
    ApiKey.ALTER_PARTITION: (AclOperation.CLUSTER_ACTION,),
    ApiKey.ALLOCATE_PRODUCER_IDS: (AclOperation.CLUSTER_ACTION,),
}


class ClusterGuard:
    """Put around handlers only where an authorizer is set: else there is nothing to pay for."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def around(self, handler: Handler[Any]) -> Handle:
        """What serves the handler's key."""
        operations = _NEEDED.get(handler.key)
        if operations is None:
            return handler.handle

        def handle(request: Request, body: Message) -> None:
            if any(self._authorizer.allows_on_cluster(request, each) for each in operations):
                handler.handle(request, body)
            else:
                request.reply(_refusal(request, body))

        return handle


def _refusal(request: Request, body: Message) -> Message:
    return refused(
        request.header.api_key,
        request.header.api_version,
        body,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        "Cluster authorization failed.",
    )
