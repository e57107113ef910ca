"""Whom a producer has to ask that makes each of its requests on a connection of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TypeVar

from logquake.client.connection import Connection
from logquake.client.errors import (
    ClientError,
    ConnectionLostError,
    NoLeaderError,
    check,
)
from logquake.client.network.coordinator_lookups import SEVERAL_SINCE, lookup
from logquake.client.settings import Address
from logquake.cluster.observing.broker_connections import BrokerConnections, Dial
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.messages.find_coordinator import FindCoordinatorResponse
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

R = TypeVar("R", bound=Message)

_ONE_KEY = SEVERAL_SINCE - 1


class Whom:
    """Asked anew each time: leaders and coordinators move. All methods raise ClientError."""

    def __init__(self, bootstrap: Iterable[Address], dial: Dial) -> None:
        self._brokers = deque(bootstrap)  # whoever failed last is the last to be asked
        self._dial = dial
        self._connections = BrokerConnections(dial)

    def close(self) -> None:
        self._connections.close()

    def partitions(self, topic: str) -> list[TopicPartition]:
        """In order."""
        _, found = self._topic(topic)
        return sorted(TopicPartition(topic, each.partition_index) for each in found.partitions)

    def leader(self, place: TopicPartition) -> Connection:
        """The caller's own, as the coordinator's."""
        answer, topic = self._topic(place.topic)
        leaders = {each.partition_index: each.leader_id for each in topic.partitions}
        for broker in answer.brokers:
            if broker.node_id == leaders.get(place.partition):
                return self._dial(Address(broker.host, broker.port))
        raise NoLeaderError(f"{place} has no leader now")

    def coordinator(self, transactional_id: str) -> Connection:
        request = lookup(_ONE_KEY, CoordinatorType.TRANSACTION, [transactional_id])
        answer = self._anybody(request, FindCoordinatorResponse, _ONE_KEY)
        check(answer.error_code, f"transaction coordinator of {transactional_id}")
        return self._dial(Address(answer.host, answer.port))

    def _topic(self, name: str) -> tuple[MetadataResponse, MetadataResponseTopic]:
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
        )
        answer = self._anybody(request, MetadataResponse)
        (found,) = answer.topics
        check(found.error_code, f"topic {name}")
        return answer, found

    def _anybody(self, request: Message, response: type[R], at_most: int | None = None) -> R:
        refused: list[str] = []
        for _ in range(len(self._brokers)):
            try:
                broker = self._brokers[0]
                return self._connections.ask(broker, request, response, at_most=at_most)
            except ClientError as error:
                if not error.retriable:
                    raise
                refused.append(str(error))
                self._brokers.rotate(-1)
        raise ConnectionLostError("; ".join(refused) or "no bootstrap servers")
