"""The cluster and its topics: describe, create, delete.

Creating and deleting go to the controller and are tried again while there is none. An attempt
whose answer was lost may have been carried out: a retry then meets TOPIC_ALREADY_EXISTS or
UNKNOWN_TOPIC_OR_PARTITION, which is raised as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logquake.client.errors import check
from logquake.client.routing import Router
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import MetadataResponseTopic
from logquake.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from logquake.wire.sentinels import NO_NUM_PARTITIONS, NO_REPLICATION_FACTOR

_DELETE_BY_STATE_SINCE = 6
# A producer waits for such a topic to appear; who asks about it wants to know that it is not there.
_NO_SUCH_TOPIC = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,)


@dataclass(frozen=True, slots=True)
class BrokerDescription:
    broker_id: int
    host: str
    port: int
    rack: str | None


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    cluster_id: str | None
    controller_id: int  # or NO_CONTROLLER
    brokers: tuple[BrokerDescription, ...]


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    index: int
    leader: int  # or NO_LEADER
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TopicDescription:
    name: str
    topic_id: bytes
    is_internal: bool
    partitions: tuple[PartitionDescription, ...]


class Admin:
    """All methods raise ClientError: BrokerError with Kafka's code where a broker refused."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def describe_cluster(self) -> ClusterDescription:
        answer = self._router.with_retries(lambda: self._router.metadata([]))
        brokers = sorted(answer.brokers, key=lambda broker: broker.node_id)
        return ClusterDescription(
            answer.cluster_id,
            answer.controller_id,
            tuple(BrokerDescription(b.node_id, b.host, b.port, b.rack) for b in brokers),
        )

    def list_topics(self, *, include_internal: bool = False) -> list[str]:
        answer = self._router.with_retries(lambda: self._router.metadata(None))
        return sorted(
            topic.name
            for topic in answer.topics
            if topic.name and (include_internal or not topic.is_internal)
        )

    def describe_topics(self, names: Sequence[str] | None = None) -> list[TopicDescription]:
        """The topics named, all with None, by name."""

        def attempt() -> list[TopicDescription]:
            topics = self._router.metadata(names).topics
            for topic in topics:
                check(topic.error_code, f"topic {topic.name}", final=_NO_SUCH_TOPIC)
            return sorted(map(_describe, topics), key=lambda topic: topic.name)

        return self._router.with_retries(attempt)

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = NO_NUM_PARTITIONS,
        replication_factor: int = NO_REPLICATION_FACTOR,
        configs: Mapping[str, str] | None = None,
        assignments: Sequence[Sequence[int]] = (),
        timeout_ms: int = 30_000,
    ) -> None:
        """Create one topic and wait, on the broker, until its partitions have leaders.

        `assignments` are the replicas of partition 0, 1, ..., instead of the two numbers.
        """
        topic = CreatableTopic(
            name=name,
            num_partitions=NO_NUM_PARTITIONS if assignments else partitions,
            replication_factor=NO_REPLICATION_FACTOR if assignments else replication_factor,
            assignments=[
                CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
                for index, replicas in enumerate(assignments)
            ],
            configs=[
                CreatableTopicConfig(name=key, value=value)
                for key, value in sorted((configs or {}).items())
            ],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=timeout_ms)

        def attempt() -> None:
            answer = self._router.controller().request(
                request, CreateTopicsResponse, timeout_ms=self._answered_within_ms(timeout_ms)
            )
            for result in answer.topics:
                check(result.error_code, f"topic {name}: {result.error_message or 'not created'}")

        self._router.with_retries(attempt)

    def delete_topic(self, name: str, *, timeout_ms: int = 30_000) -> None:
        """Mark one topic for deletion; its replicas go while nothing keeps them."""
        self.delete_topics([name], timeout_ms=timeout_ms)

    def delete_topics(self, names: Sequence[str], *, timeout_ms: int = 30_000) -> None:
        """Several at once. Raises BrokerError for the first that was refused."""

        def attempt() -> None:
            controller = self._router.controller()
            by_state = controller.version_of(DeleteTopicsRequest) >= _DELETE_BY_STATE_SINCE
            states = [DeleteTopicState(name=name, topic_id=bytes(16)) for name in names]
            request = DeleteTopicsRequest(
                topics=states if by_state else [],
                topic_names=[] if by_state else list(names),
                timeout_ms=timeout_ms,
            )
            answer = controller.request(
                request, DeleteTopicsResponse, timeout_ms=self._answered_within_ms(timeout_ms)
            )
            for result in answer.responses:
                context = f"topic {result.name}: {result.error_message or 'not deleted'}"
                check(result.error_code, context, final=_NO_SUCH_TOPIC)

        self._router.with_retries(attempt)

    def _answered_within_ms(self, timeout_ms: int) -> int:
        """The broker may take its time; who asked again meanwhile would be told that it is done."""
        return timeout_ms + self._router.settings.request_timeout_ms


def _describe(topic: MetadataResponseTopic) -> TopicDescription:
    partitions = sorted(topic.partitions, key=lambda partition: partition.partition_index)
    return TopicDescription(
        topic.name or "",
        topic.topic_id,
        topic.is_internal,
        tuple(
            PartitionDescription(
                partition.partition_index,
                partition.leader_id,
                partition.leader_epoch,
                tuple(partition.replica_nodes),
                tuple(partition.isr_nodes),
                tuple(partition.offline_replicas),
            )
            for partition in partitions
        ),
    )
