"""What the controller tells a broker: the three requests that only it sends.

LeaderAndIsr (4), versions 0-7: who leads and follows what (KIP-380 broker epochs v2, KIP-516
topic ids v5, KIP-704 recovery state v6).
StopReplica (5), versions 0-4: stop following, and delete if told to (KIP-570 leader epochs v3).
UpdateMetadata (6), versions 0-8: the image that clients are told.

Each is refused when meant for an earlier incarnation of this broker (STALE_BROKER_EPOCH); the
controller's epoch is checked where the request is applied.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.coordinators.groups.offset_removal import OffsetRemoval
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.lost_leaders import LostLeaders
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.node.replication.state_changes import StateChanges
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.node.topics.configs import TopicConfigs
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from logquake.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from logquake.wire.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from logquake.wire.refusals import refused
from logquake.wire.sentinels import UNKNOWN_BROKER_EPOCH

_FIRST_VERSION_BY_ID = 5

BrokerEpoch = Callable[[], int]


def _is_stale(epoch_in_request: int, broker_epoch: int) -> bool:
    return epoch_in_request != UNKNOWN_BROKER_EPOCH and epoch_in_request < broker_epoch


class LeaderAndIsr(Handler[LeaderAndIsrRequest]):
    key = ApiKey.LEADER_AND_ISR
    versions = range(8)

    def __init__(
        self, changes: StateChanges, configs: TopicConfigs, broker_epoch: BrokerEpoch
    ) -> None:
        self._changes = changes
        self._configs = configs
        self._broker_epoch = broker_epoch

    def handle(self, request: Request, body: LeaderAndIsrRequest) -> None:
        def reply(response: LeaderAndIsrResponse) -> None:
            """What is refused as a whole is refused of each partition besides."""
            header, error = request.header, ErrorCode(response.error_code)
            request.reply(
                refused(header.api_key, header.api_version, body, error) if error else response
            )

        if _is_stale(body.broker_epoch, self._broker_epoch()):
            reply(LeaderAndIsrResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
            return
        topics = {topic.topic_name for topic in body.topic_states}
        topics |= {state.topic_name for state in body.ungrouped_partition_states}
        self._configs.load(
            topics,
            loaded=lambda: self._changes.apply_leader_and_isr(
                body,
                self._configs.get,
                reply,
                by_topic_id=request.header.api_version >= _FIRST_VERSION_BY_ID,
            ),
            # Unanswered, the controller sends it again; a wrong configuration would stay.
            failed=lambda failure: request.close(f"no topic configuration: {failure}"),
        )


class StopReplica(Handler[StopReplicaRequest]):
    key = ApiKey.STOP_REPLICA
    versions = range(5)

    def __init__(self, changes: StateChanges, broker_epoch: BrokerEpoch) -> None:
        self._changes = changes
        self._broker_epoch = broker_epoch

    def handle(self, request: Request, body: StopReplicaRequest) -> None:
        if _is_stale(body.broker_epoch, self._broker_epoch()):
            request.reply(StopReplicaResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        else:
            self._changes.stop_replicas(body, request.reply)


class UpdateMetadata(Handler[UpdateMetadataRequest]):
    key = ApiKey.UPDATE_METADATA
    versions = range(9)

    def __init__(
        self,
        changes: StateChanges,
        cache: MetadataCache,
        waiters: MetadataWaiters,
        lost_leaders: LostLeaders,
        configs: TopicConfigs,
        offsets: OffsetRemoval,
        broker_epoch: BrokerEpoch,
    ) -> None:
        self._changes = changes
        self._cache = cache
        self._waiters = waiters
        self._lost_leaders = lost_leaders
        self._configs = configs
        self._offsets = offsets
        self._broker_epoch = broker_epoch

    def handle(self, request: Request, body: UpdateMetadataRequest) -> None:
        request.reply(UpdateMetadataResponse(error_code=self._apply(body)))

    def _apply(self, body: UpdateMetadataRequest) -> ErrorCode:
        if _is_stale(body.broker_epoch, self._broker_epoch()):
            return ErrorCode.STALE_BROKER_EPOCH
        if not self._changes.accept_controller_epoch(body.controller_epoch):
            return ErrorCode.STALE_CONTROLLER_EPOCH
        touched = self._cache.update(body)
        for topic in sorted(touched.topics):
            if self._cache.topic(topic) is None:
                self._configs.forget(topic)
        if touched.deleted:
            self._offsets.forget(touched.deleted)
        self._changes.on_metadata_update()
        self._lost_leaders.on_metadata_update()
        self._waiters.on_metadata_update()
        return ErrorCode.NONE
