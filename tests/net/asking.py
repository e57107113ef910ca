"""A core that asks one broker for metadata, and that broker's loop, which the test drives."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from logquake.client.clock import SystemClock
from logquake.client.errors import ClientError
from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest, Login
from logquake.client.network.links import Links
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.net.server import SERVED, Server
from tests.waiting import PATIENCE_S

PATIENCE_MS = int(PATIENCE_S * 1000)
CLOCK = SystemClock()
NETWORK = NetworkSettings(request_timeout_ms=PATIENCE_MS)


def in_time() -> int:
    return CLOCK.now_ms() + PATIENCE_MS


class JumpingClock(SystemClock):
    """Time passes at once, as it does for who was kept from looking at it."""

    def __init__(self) -> None:
        self._ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self._ahead_ms

    def jump(self, duration_ms: int) -> None:
        self._ahead_ms += duration_ms


class Asking:
    """Asks one broker for metadata."""

    def __init__(
        self,
        host: str,
        port: int,
        new_login: Callable[[], Login] | None = None,
        settings: NetworkSettings = NETWORK,
    ) -> None:
        self.links = Links(settings, Random(1), new_login=new_login, on_ended=self._on_ended)
        self.ended = 0
        self.answers: list[Answer] = []
        self._node = Node(1, host, port)
        self._network = NetworkClient(settings, self.links, self, Random(1))
        self.is_asked = False

    def nodes(self) -> list[Node]:
        return [self._node]

    def node(self, node_id: int) -> Node | None:
        return self._node if node_id == self._node.id else None

    def failure(self) -> ClientError | None:
        return self._network.failure(self._node.id)

    def poll(self, now_ms: int) -> None:
        self.links.poll(now_ms)
        if not self.is_asked and self._network.ready(self._node.id, now_ms):
            self.is_asked = True
            version = self._network.version_of(self._node.id, MetadataRequest)
            request = ClientRequest(
                MetadataRequest(topics=[]), version, MetadataResponse, self.answers.append
            )
            self._network.send(self._node.id, request, now_ms)

    def next_due_ms(self, now_ms: int) -> int | None:
        return self.links.next_due_ms(now_ms)

    def abandon(self, _why: ClientError) -> None: ...

    def _on_ended(self) -> None:
        self.ended += 1


def run_until(server: Server, is_done: Callable[[], object]) -> None:
    deadline_ms = in_time()
    while not is_done():
        assert CLOCK.now_ms() < deadline_ms
        server.loop.run_pass(max_wait_ms=1)


def versions() -> ApiVersionsResponse:
    ranges = [
        ApiVersion(api_key=key, min_version=served[0], max_version=served[-1])
        for key, served in SERVED.items()
    ]
    return ApiVersionsResponse(api_keys=ranges)
