"""One broker, ours or Kafka's, asked by hand: requests of one version, and no other broker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from logquake.client.connection import connect_to_one
from logquake.client.errors import ClientError
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.cluster.processes.ports import hold_port_for_java, port_of
from logquake.wire.errors import error_name
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from tests.waiting import wait_for

_TIMEOUT_MS = 60_000  # a JVM that has just started, and is starved, makes its first topic


class OneBroker:
    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, request: Any, answer: Any, version: int) -> Any:
        settings = NetworkSettings(request_timeout_ms=_TIMEOUT_MS)
        address = Address("127.0.0.1", self.port)
        with closing(connect_to_one(address, settings)) as there:
            return there.request(request, answer, at_most=version)

    def metadata(self, *topics: str, version: int = 12) -> MetadataResponse:
        asked = [MetadataRequestTopic(name=name) for name in topics]
        answer: MetadataResponse = self.ask(
            MetadataRequest(topics=asked), MetadataResponse, version
        )
        return answer

    def topic(self, name: str) -> MetadataResponseTopic:
        (topic,) = self.metadata(name).topics
        return topic

    def wait_to_know(self, *clusters: set[int]) -> None:
        """Until it serves, and tells of exactly the brokers of one of these and of a controller."""

        def is_known(told: MetadataResponse) -> bool:
            return told.controller_id >= 0 and {one.node_id for one in told.brokers} in clusters

        what = f"broker on port {self.port} that knows {' or '.join(map(str, clusters))}"
        wait_for(what, self.metadata, is_known, unready=(ClientError,))

    def create(self, name: str, partitions: int = 1, replicas: int = 1) -> tuple[str, str | None]:
        """The error's name, and its message."""
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS)
        (made,) = self.ask(request, CreateTopicsResponse, 7).topics
        return error_name(made.error_code), made.error_message

    def delete(self, name: str) -> str:
        """The error's name."""
        state = DeleteTopicState(name=name)
        request = DeleteTopicsRequest(topics=[state], timeout_ms=_TIMEOUT_MS)
        (gone,) = self.ask(request, DeleteTopicsResponse, 6).responses
        return error_name(gone.error_code)


@contextmanager
def held_ports(count: int) -> Iterator[list[int]]:
    """Ports that nobody else gets, for brokers of either kind."""
    with ExitStack() as held:
        yield [port_of(held.enter_context(hold_port_for_java())) for _ in range(count)]
