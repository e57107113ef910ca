"""What Metadata tells the clients of one listener, in one version (Kafka's ZkMetadataCache).

A leader that has no such listener is no leader to them: LISTENER_NOT_FOUND since v6,
LEADER_NOT_AVAILABLE before. Version 0 names only the replicas that can be reached, and calls the
others missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from logquake.node.metadata.cache import MetadataCache, TopicImage
from logquake.node.metadata.topic_names import is_internal
from logquake.wire.errors import ErrorCode
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.metadata import (
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.messages.update_metadata import UpdateMetadataPartitionState
from logquake.wire.sentinels import NO_LEADER

_FIRST_VERSION_WITH_LISTENER_ERROR = 6


@dataclass(frozen=True, slots=True)
class MetadataView:
    cache: MetadataCache
    listener: ListenerName
    version: int

    def brokers(self) -> list[MetadataResponseBroker]:
        return [
            MetadataResponseBroker(
                node_id=node.broker_id, host=node.host, port=node.port, rack=node.rack
            )
            for node in self.cache.nodes(self.listener)
        ]

    def topic(self, name: str, image: TopicImage) -> MetadataResponseTopic:
        partitions = image.partitions
        return MetadataResponseTopic(
            name=name,
            topic_id=image.topic_id,
            is_internal=is_internal(name),
            partitions=[self._partition(partitions[index]) for index in sorted(partitions)],
        )

    def _partition(self, state: UpdateMetadataPartitionState) -> MetadataResponsePartition:
        replicas, isr = list(state.replicas), list(state.isr)
        if self.version == 0:
            replicas, isr = self._reached(replicas), self._reached(isr)
        return MetadataResponsePartition(
            error_code=self._partition_error(state, replicas, isr),
            partition_index=state.partition_index,
            leader_id=state.leader if self._reaches(state.leader) else NO_LEADER,
            leader_epoch=state.leader_epoch,
            replica_nodes=replicas,
            isr_nodes=isr,
            offline_replicas=list(state.offline_replicas),
        )

    def _partition_error(
        self, state: UpdateMetadataPartitionState, replicas: list[int], isr: list[int]
    ) -> ErrorCode:
        if not self._reaches(state.leader):
            if (
                self.cache.is_alive(state.leader)
                and self.version >= _FIRST_VERSION_WITH_LISTENER_ERROR
            ):
                return ErrorCode.LISTENER_NOT_FOUND
            return ErrorCode.LEADER_NOT_AVAILABLE
        if len(replicas) < len(state.replicas) or len(isr) < len(state.isr):
            return ErrorCode.REPLICA_NOT_AVAILABLE
        return ErrorCode.NONE

    def _reaches(self, broker_id: int) -> bool:
        return self.cache.node(broker_id, self.listener) is not None

    def _reached(self, broker_ids: Iterable[int]) -> list[int]:
        return [broker_id for broker_id in broker_ids if self._reaches(broker_id)]
