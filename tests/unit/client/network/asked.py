"""One broker that is asked, and what came of it."""

from __future__ import annotations

from random import Random

from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest, Link
from logquake.client.network.links import Links
from logquake.client.network.settings import NetworkSettings
from logquake.wire.header import encode_response
from logquake.wire.messages.fetch import FetchRequest, FetchResponse
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.parts import joined
from tests.unit.client.cluster_in_memory import all_versions

BOUND = 1 << 20
BROKER = Node(1, "one", 9092)


class Asked:
    """With the requests that it was sent."""

    def __init__(self) -> None:
        self.told: list[Answer] = []
        self.links = Links(NetworkSettings(max_response_bytes=BOUND), Random(1))
        self.links.begin(BROKER, 0)
        link = self.links.states.link(BROKER.id)
        assert link is not None
        self.link: Link = link
        self.links.resolved(link.id, ["10.0.0.1"], 0)
        self.links.connected(link.id, 0)

    def greet(self) -> None:
        self.receive(joined(encode_response(1, all_versions(), 3)))
        self.links.take_effects()

    def metadata(self) -> None:
        self._send(ClientRequest(MetadataRequest(), 9, MetadataResponse, self.told.append))

    def fetch(self) -> None:
        done = self.told.append
        self._send(
            ClientRequest(FetchRequest(), 12, FetchResponse, done, max_response_bytes=4 * BOUND)
        )

    def _send(self, request: ClientRequest) -> None:
        self.links.send(self.link, request, 0)
        self.links.written(self.link.id)

    def receive(self, content: bytes) -> bool:
        """Whether anything comes of it."""
        room = self.links.room(self.link.id)
        room[: len(content)] = content
        return self.links.received(self.link.id, len(content), 0)

    def announce(self, size: int) -> None:
        self.receive(size.to_bytes(4))

    @property
    def is_over(self) -> bool:
        return not self.links.count
