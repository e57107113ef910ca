"""FindCoordinator (10), versions 0-6: who coordinates a group or a transactional id.

It is the leader of one partition of the coordinators' topic, told with its address on the asker's
listener. A topic that is not there is made, whatever auto.create.topics.enable says, and the client
asks again. KIP-699 (v4) asks for several keys at once; KIP-932 (v6) adds share groups, which nobody
coordinates in Kafka 3.9.
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.metadata.cache import MetadataCache, Node
from logquake.node.metadata.coordinators import (
    CoordinatorTopic,
    CoordinatorTopics,
    coordinator_of,
)
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.node.requests.throttling import created_for
from logquake.node.topics.auto_creation import AutoTopicCreation
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_GROUP, _TRANSACTION, _SHARE = range(3)  # CoordinatorType
_RESOURCES = {
    _GROUP: (ResourceType.GROUP, ErrorCode.GROUP_AUTHORIZATION_FAILED),
    _TRANSACTION: (ResourceType.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
}
_FIRST_VERSION_WITH_KEYS = 4
_FIRST_VERSION_WITH_SHARE = 6
_NOBODY = Node(-1, "", -1, None)  # Node.noNode
_MESSAGES = {
    ErrorCode.NONE: "NONE",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    ErrorCode.INVALID_REQUEST: "This most likely occurs because of a request being malformed by "
    "the client library or the message was sent to an incompatible broker. "
    "See the broker logs for more details.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional Id authorization failed.",
}


class FindCoordinator(Handler[FindCoordinatorRequest]):
    key = ApiKey.FIND_COORDINATOR
    versions = range(7)

    def __init__(
        self,
        topics: CoordinatorTopics,
        cache: MetadataCache,
        auto_creation: AutoTopicCreation,
        authorizer: Authorizer,
    ) -> None:
        self._topics = {_GROUP: topics.groups, _TRANSACTION: topics.transactions}
        self._cache = cache
        self._auto_creation = auto_creation
        self._authorizer = authorizer

    def handle(self, request: Request, body: FindCoordinatorRequest) -> None:
        version = request.header.api_version
        if version >= _FIRST_VERSION_WITH_KEYS:
            found = [self._find(request, body.key_type, key) for key in body.coordinator_keys]
            request.reply(
                FindCoordinatorResponse(
                    coordinators=[
                        _coordinator(key, *each)
                        for key, each in zip(body.coordinator_keys, found, strict=True)
                    ]
                )
            )
            return
        error, node = self._find(request, body.key_type, body.key)
        request.reply(
            FindCoordinatorResponse(
                error_code=error,
                error_message=_MESSAGES[error],
                node_id=node.broker_id,
                host=node.host,
                port=node.port,
            )
        )

    def _find(self, request: Request, key_type: int, key: str) -> tuple[ErrorCode, Node]:
        """KafkaApis.getCoordinator."""
        topic = self._topics.get(key_type)
        if topic is None:
            return self._without_topic(request, key_type), _NOBODY
        resource_type, denied = _RESOURCES[key_type]
        if not self._authorizer.allows(request, AclOperation.DESCRIBE, resource_type, key):
            return denied, _NOBODY
        node = self._leader(topic, key, request)
        if node is None:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE, _NOBODY
        return ErrorCode.NONE, node

    def _without_topic(self, request: Request, key_type: int) -> ErrorCode:
        if key_type != _SHARE or request.header.api_version < _FIRST_VERSION_WITH_SHARE:
            return ErrorCode.INVALID_REQUEST
        if not self._authorizer.allows_on_cluster(request, AclOperation.CLUSTER_ACTION):
            return ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return ErrorCode.COORDINATOR_NOT_AVAILABLE

    def _leader(self, topic: CoordinatorTopic, key: str, request: Request) -> Node | None:
        if self._cache.topic(topic.name) is None:
            self._auto_creation.create([topic.name], lambda _told: None, created_for(request))
            return None
        leader = coordinator_of(self._cache, topic, key)
        return None if leader is None else self._cache.node(leader, request.listener)


def _coordinator(key: str, error: ErrorCode, node: Node) -> Coordinator:
    return Coordinator(
        key=key,
        node_id=node.broker_id,
        host=node.host,
        port=node.port,
        error_code=error,
        error_message="",
    )
