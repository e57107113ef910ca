"""DescribeCluster (60), versions 0-1: brokers and controller (KIP-700; KIP-919 adds v1).

A broker describes brokers: an endpoint type other than that is refused. A controller that the
listener does not reach is not named (AuthHelper.computeDescribeClusterResponse).
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.first_metadata import FirstMetadata
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from logquake.wire.sentinels import NO_CONTROLLER

_BROKERS = 1
_CONTROLLERS = 2


class DescribeCluster(Handler[DescribeClusterRequest]):
    key = ApiKey.DESCRIBE_CLUSTER
    versions = range(2)

    def __init__(
        self,
        cluster_id: str,
        cache: MetadataCache,
        first_metadata: FirstMetadata,
        authorizer: Authorizer,
    ) -> None:
        self._cluster_id = cluster_id
        self._cache = cache
        self._first_metadata = first_metadata
        self._authorizer = authorizer

    def handle(self, request: Request, body: DescribeClusterRequest) -> None:
        if body.endpoint_type != _BROKERS:
            request.reply(_refused(body.endpoint_type))
        else:
            self._first_metadata.wait(lambda: self._answer(request, body), request.close)

    def _answer(self, request: Request, body: DescribeClusterRequest) -> None:
        brokers = [
            DescribeClusterBroker(
                broker_id=node.broker_id, host=node.host, port=node.port, rack=node.rack
            )
            for node in self._cache.nodes(request.listener)
        ]
        reached = {broker.broker_id for broker in brokers}
        controller_id = self._cache.controller_id
        answer = DescribeClusterResponse(
            cluster_id=self._cluster_id,
            controller_id=controller_id if controller_id in reached else NO_CONTROLLER,
            brokers=brokers,
        )
        if body.include_cluster_authorized_operations:
            operations = self._authorizer.operations_on_cluster(request)
            answer.cluster_authorized_operations = operations
        request.reply(answer)


def _refused(endpoint_type: int) -> DescribeClusterResponse:
    if endpoint_type == _CONTROLLERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of type BROKER, but we wanted an "
            "endpoint of type CONTROLLER",
        )
    return DescribeClusterResponse(
        error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
        error_message=f"Unsupported endpoint type {endpoint_type}",
    )
