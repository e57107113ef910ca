"""Topics and their partitions, as a program asks for them (Kafka's TopicMetadataFetcher)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from logquake.client.errors import ClientError, broker_error
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.metadata_updates import metadata_request
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.snapshot import nodes_told
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
)


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """``leader`` is None while nobody leads. Replicas are those that were told with an address, or
    with none if they are down.
    """

    topic: str
    partition: int
    leader: Node | None
    replicas: tuple[Node, ...]
    in_sync: tuple[Node, ...]
    offline: tuple[Node, ...]


class TopicSearch:
    """Satisfies `ProgramQuestion`. ``found`` lacks topics that there are not."""

    def __init__(
        self,
        network: NetworkClient,
        topics: Collection[str] | None,
        *,
        creates: bool,
        backoff: ExponentialBackoff,
    ) -> None:
        self._network = network
        self._topics = topics
        self._creates = creates
        self._backoff = backoff
        self._attempts = 0
        self._not_before_ms = 0
        self._is_in_flight = False
        self._answer: Answer | None = None
        self.is_done = False
        self.found: dict[str, list[PartitionInfo]] = {}
        self.failure: ClientError | None = None

    def next_due_ms(self, now_ms: int) -> int | None:
        if self._answer is not None:
            return now_ms
        return self._not_before_ms if self._not_before_ms > now_ms else None

    def poll(self, now_ms: int) -> None:
        if self._answer is not None:
            answer, self._answer, self._is_in_flight = self._answer, None, False
            self._heed(answer, now_ms)
        if not self.is_done and not self._is_in_flight and self._not_before_ms <= now_ms:
            self._ask(now_ms)

    def _ask(self, now_ms: int) -> None:
        node = self._network.least_loaded(now_ms)
        if node is None or not self._network.ready(node.id, now_ms):
            return
        try:
            version = self._network.version_of(node.id, MetadataRequest)
        except ClientError as error:
            self._refuse(error)
            return
        request = metadata_request(self._topics, version, creates=self._creates)
        self._is_in_flight = True
        asked = ClientRequest(request, version, MetadataResponse, self._answered)
        self._network.send(node.id, asked, now_ms)

    def _answered(self, answer: Answer) -> None:
        """It is looked at in the next poll, which knows the time."""
        self._answer = answer

    def _heed(self, answer: Answer, now_ms: int) -> None:
        if isinstance(answer, MetadataResponse):
            self._take(answer, now_ms)
        elif isinstance(answer, ClientError) and answer.retriable:
            self._again(answer, now_ms)
        elif isinstance(answer, ClientError):
            self._refuse(answer)

    def _take(self, answer: MetadataResponse, now_ms: int) -> None:
        for topic in answer.topics:
            error = ErrorCode.of_peer(topic.error_code)
            if error in (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
                continue
            failure = broker_error(topic.error_code, f"topic {topic.name}")
            if failure.retriable:
                self._again(failure, now_ms)
            else:
                self._refuse(failure)
            return
        self.found = _topics_of(answer)
        self.failure = None
        self.is_done = True

    def _again(self, why: ClientError, now_ms: int) -> None:
        self.failure = why
        self._not_before_ms = now_ms + self._backoff.after(self._attempts)
        self._attempts += 1

    def _refuse(self, why: ClientError) -> None:
        self.failure = why
        self.is_done = True


def _topics_of(answer: MetadataResponse) -> dict[str, list[PartitionInfo]]:
    nodes = nodes_told(answer)
    return {
        topic.name or "": [
            _partition(topic.name or "", one, nodes)
            for one in sorted(topic.partitions, key=lambda one: one.partition_index)
        ]
        for topic in answer.topics
        if topic.error_code == ErrorCode.NONE
    }


def _partition(
    topic: str, told: MetadataResponsePartition, nodes: dict[int, Node]
) -> PartitionInfo:
    def named(ids: list[int]) -> tuple[Node, ...]:
        return tuple(nodes.get(node_id) or Node(node_id, "", -1) for node_id in ids)

    return PartitionInfo(
        topic,
        told.partition_index,
        nodes.get(told.leader_id),
        named(told.replica_nodes),
        named(told.isr_nodes),
        named(told.offline_replicas),
    )
