"""Requests about one thing, the cluster or a group: who may not is refused before the handler.

What is decided a topic, or one group of several, is the handlers' own matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.requests.api_table import Handle
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.refusals import refused
from logquake.wire.schema import Message

# Which operation on the cluster each needs, or one of which (KafkaApis).
_ON_CLUSTER = {
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
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (AclOperation.DESCRIBE,),
    ApiKey.UPDATE_FEATURES: (AclOperation.ALTER,),
    ApiKey.ALTER_PARTITION: (AclOperation.CLUSTER_ACTION,),
    ApiKey.ALLOCATE_PRODUCER_IDS: (AclOperation.CLUSTER_ACTION,),
}
# Which operation on the group that the request names.
_ON_GROUP = {
    ApiKey.OFFSET_COMMIT: AclOperation.READ,
    ApiKey.JOIN_GROUP: AclOperation.READ,
    ApiKey.HEARTBEAT: AclOperation.READ,
    ApiKey.LEAVE_GROUP: AclOperation.READ,
    ApiKey.SYNC_GROUP: AclOperation.READ,
    ApiKey.OFFSET_DELETE: AclOperation.DELETE,
}

# Refused with no more than the code: their handlers in KafkaApis give no text.
_WITHOUT_TEXT = frozenset({ApiKey.ELECT_LEADERS, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS})

_Denial = tuple[ErrorCode, str]
_CLUSTER_DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."
_GROUP_DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED, "Group authorization failed."


class Guard:
    """Put around handlers only where an authorizer is set: else there is nothing to pay for."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def around(self, handler: Handler[Any]) -> Handle:
        """What serves the handler's key."""
        if handler.key in _ON_CLUSTER:
            return _guarded(handler, self._on_cluster(handler.key), _CLUSTER_DENIED)
        if handler.key in _ON_GROUP:
            return _guarded(handler, self._on_group(handler.key), _GROUP_DENIED)
        return handler.handle

    def _on_cluster(self, key: ApiKey) -> Callable[[Request, Any], bool]:
        operations = _ON_CLUSTER[key]

        def may(request: Request, _body: Any) -> bool:
            return any(self._authorizer.allows_on_cluster(request, each) for each in operations)

        return may

    def _on_group(self, key: ApiKey) -> Callable[[Request, Any], bool]:
        operation = _ON_GROUP[key]

        def may(request: Request, body: Any) -> bool:
            return self._authorizer.allows(request, operation, ResourceType.GROUP, body.group_id)

        return may


def _guarded(handler: Handler[Any], may: Callable[[Request, Any], bool], denial: _Denial) -> Handle:
    error, text = denial
    message = None if handler.key in _WITHOUT_TEXT else text

    def handle(request: Request, body: Message) -> None:
        if may(request, body):
            handler.handle(request, body)
        else:
            header = request.header
            request.reply(refused(header.api_key, header.api_version, body, error, message))

    return handle
