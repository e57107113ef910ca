"""What brokers ask of the active controller.

AlterPartition (56), versions 0-3: a leader's new ISR (KIP-497; KIP-704 v1, topic ids v2,
KIP-903 broker epochs v3).
ControlledShutdown (7), versions 0-3: move leaderships away before a broker stops (v3 flexible).
AllocateProducerIds (67), version 0: a block of producer ids (KIP-730).
The decisions are the controller's: these only hand over.
"""

from __future__ import annotations

from logquake.controller.controller import Controller
from logquake.node.requests.handler import B, Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AllocateProducerIdsRequest,
    AlterPartitionRequest,
    AlterPartitionResponse,
    ControlledShutdownRequest,
)

_FIRST_VERSION_WITH_INELIGIBLE = 2


class _ForController(Handler[B]):
    """The controller answers NOT_CONTROLLER itself where it is not in office."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller


class AlterPartition(_ForController[AlterPartitionRequest]):
    key = ApiKey.ALTER_PARTITION
    versions = range(4)

    def handle(self, request: Request, body: AlterPartitionRequest) -> None:
        def answered(response: AlterPartitionResponse) -> None:
            _say_for_version(request.header.api_version, response)
            request.reply(response)

        self._controller.alter_partition(body, answered)


class ControlledShutdown(_ForController[ControlledShutdownRequest]):
    key = ApiKey.CONTROLLED_SHUTDOWN
    versions = range(4)

    def handle(self, request: Request, body: ControlledShutdownRequest) -> None:
        self._controller.controlled_shutdown(body, request.reply)


class AllocateProducerIds(_ForController[AllocateProducerIdsRequest]):
    key = ApiKey.ALLOCATE_PRODUCER_IDS
    versions = range(1)

    def handle(self, request: Request, body: AllocateProducerIdsRequest) -> None:
        self._controller.allocate_producer_ids(body, request.reply)


def _say_for_version(version: int, response: AlterPartitionResponse) -> None:
    """INELIGIBLE_REPLICA (KIP-841) is younger than versions 0 and 1."""
    if version < _FIRST_VERSION_WITH_INELIGIBLE:
        for topic in response.topics:
            for partition in topic.partitions:
                if partition.error_code == ErrorCode.INELIGIBLE_REPLICA:
                    partition.error_code = ErrorCode.OPERATION_NOT_ATTEMPTED
