"""The Fetch 17 that a follower sends, and its answer by partition."""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.replication.fetcher.followed import Followed
from logquake.node.replication.fetcher.session import SessionRequest
from logquake.node.replication.settings import ReplicationSettings
from logquake.node.replication.values import PartitionKey
from logquake.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)

API_VERSION = 17  # of inter.broker.protocol.version 3.9


class FetchRequests:
    def __init__(
        self, broker_id: int, broker_epoch: Callable[[], int], settings: ReplicationSettings
    ) -> None:
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._settings = settings

    def build(self, session: SessionRequest) -> FetchRequest:
        settings = self._settings
        return FetchRequest(
            replica_state=ReplicaState(
                replica_id=self._broker_id, replica_epoch=self._broker_epoch()
            ),
            max_wait_ms=settings.replica_fetch_wait_max_ms if session.is_last else 0,
            min_bytes=settings.replica_fetch_min_bytes,
            max_bytes=settings.replica_fetch_response_max_bytes,
            session_id=session.metadata.session_id,
            session_epoch=session.metadata.epoch,
            topics=self._topics(session.named),
            forgotten_topics_data=_forgotten(session.forgotten),
        )

    def _topics(self, named: list[Followed]) -> list[FetchTopic]:
        topics: dict[bytes, FetchTopic] = {}
        for followed in named:
            topic_id = followed.partition.topic_id
            topic = topics.get(topic_id)
            if topic is None:
                topic = topics[topic_id] = FetchTopic(topic_id=topic_id, partitions=[])
            topic.partitions.append(self._partition(followed))
        return list(topics.values())

    def _partition(self, followed: Followed) -> FetchPartition:
        return FetchPartition(
            partition=followed.partition.index,
            current_leader_epoch=followed.leader_epoch,
            fetch_offset=followed.fetch_offset,
            last_fetched_epoch=followed.last_fetched_epoch,
            log_start_offset=followed.partition.replica.start,
            partition_max_bytes=self._settings.replica_fetch_max_bytes,
        )


def _forgotten(keys: list[PartitionKey]) -> list[ForgottenTopic]:
    topics: dict[bytes, ForgottenTopic] = {}
    for topic_id, index in keys:
        if not isinstance(topic_id, bytes):
            raise TypeError("followers name topics by id")
        topic = topics.setdefault(topic_id, ForgottenTopic(topic_id=topic_id, partitions=[]))
        topic.partitions.append(index)
    return list(topics.values())


def by_partition(response: FetchResponse) -> dict[PartitionKey, PartitionData]:
    return {
        (topic.topic_id, data.partition_index): data
        for topic in response.responses
        for data in topic.partitions
    }
