"""Topics and their partitions, looked up for a program (Kafka's TopicMetadataFetcher)."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from logquake.client.errors import ClientError, broker_error
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.metadata_updates import metadata_request
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.partitions import PartitionNodes, partitions_of
from logquake.client.network.snapshot import Snapshot, nodes_told, topic_told
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse


class TopicSearch:
    """Satisfies `ProgramQuestion`. ``found`` lacks topics that do not exist."""

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
        self._answer: tuple[int, Answer] | None = None
        self.is_done = False
        self.found: dict[str, list[PartitionNodes]] = {}
        self.failure: ClientError | None = None

    def next_due_ms(self, now_ms: int) -> int | None:
        if self._answer is not None:
            return now_ms
        return self._not_before_ms if self._not_before_ms > now_ms else None

    def poll(self, now_ms: int) -> None:
        if self._answer is not None:
            (version, answer), self._answer = self._answer, None
            self._is_in_flight = False
            self._heed(version, answer, now_ms)
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
        done = partial(self._answered, version)
        asked = ClientRequest(request, version, MetadataResponse, done)
        self._network.send(node.id, asked, now_ms)

    def _answered(self, version: int, answer: Answer) -> None:
        """Keep the response for the next poll, which knows the time."""
        self._answer = (version, answer)

    def _heed(self, version: int, answer: Answer, now_ms: int) -> None:
        if isinstance(answer, MetadataResponse):
            self._take(version, answer, now_ms)
        elif isinstance(answer, ClientError) and answer.retriable:
            self._again(answer, now_ms)
        elif isinstance(answer, ClientError):
            self._refuse(answer)

    def _take(self, version: int, answer: MetadataResponse, now_ms: int) -> None:
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
        self.found = _topics_of(answer, version)
        self.failure = None
        self.is_done = True

    def _again(self, why: ClientError, now_ms: int) -> None:
        self.failure = why
        self._not_before_ms = now_ms + self._backoff.after(self._attempts)
        self._attempts += 1

    def _refuse(self, why: ClientError) -> None:
        self.failure = why
        self.is_done = True


def _topics_of(answer: MetadataResponse, version: int) -> dict[str, list[PartitionNodes]]:
    told = {
        topic.name or "": topic_told(topic, version)
        for topic in answer.topics
        if topic.error_code == ErrorCode.NONE
    }
    snapshot = Snapshot(nodes_told(answer), told)
    return {name: partitions_of(snapshot, name) for name in told}
