"""Requests to the leaders of partitions, one for each broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from logquake.client.consumer.cluster import leader_of
from logquake.client.errors import ClientError, UnsupportedVersionError
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.metadata import Metadata
from logquake.client.network.network_client import NetworkClient
from logquake.wire.schema import Message
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition


class Question(NamedTuple):
    """``since``: the first version that can express the request."""

    message: Message
    response: type[Message]
    since: int = 0


class LeaderRequests:
    def __init__(self, network: NetworkClient, metadata: Metadata) -> None:
        self._network = network
        self._metadata = metadata

    def by_leader(
        self, places: Iterable[TopicPartition], now_ms: int
    ) -> dict[int, list[TopicPartition]]:
        """Partitions by ready leader; for the others, connects or looks the leader up."""
        of_leader: dict[int, list[TopicPartition]] = {}
        for place in places:
            leader = leader_of(self._metadata.snapshot, place)
            if leader.node_id == NO_LEADER:
                self._metadata.request_update()
            else:
                of_leader.setdefault(leader.node_id, []).append(place)
        return {
            node_id: of for node_id, of in of_leader.items() if self._network.ready(node_id, now_ms)
        }

    def knows(self, node_id: int, request: type[Message], since: int) -> bool:
        """Whether a broker that is ready supports that version or a later one."""
        try:
            return self._network.version_of(node_id, request) >= since
        except UnsupportedVersionError:
            return False

    def ask(
        self, node_id: int, question: Question, done: Callable[[Answer], None], now_ms: int
    ) -> None:
        """Send to a broker that is ready; ``done`` gets errors as well."""
        try:
            version = self._network.version_of(node_id, type(question.message))
            if version < question.since:
                raise UnsupportedVersionError(
                    f"broker {node_id} speaks {type(question.message).__name__} up to {version}, "
                    f"and {question.since} is needed"
                )
        except ClientError as error:
            done(error)
            return
        request = ClientRequest(question.message, version, question.response, done)
        self._network.send(node_id, request, now_ms)
