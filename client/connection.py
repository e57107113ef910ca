"""A blocking connection to one broker: one request at a time.

Any failure closes the connection: bytes that follow a time-out could be the late answer to an
earlier request. The owner opens another.
"""

from __future__ import annotations

from random import Random
from typing import TypeVar

from logquake.client.clock import Clock, SystemClock
from logquake.client.driving.blocking import BlockingDriver
from logquake.client.driving.sockets import SelectorSockets, Sockets
from logquake.client.driving.way_in import PLAIN, WayIn
from logquake.client.errors import (
    ClientError,
    ConnectionLostError,
    MalformedResponseError,
    RequestTimedOutError,
)
from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest, Link, Serving, Stage
from logquake.client.network.links import Links
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.wire.schema import Message

R = TypeVar("R", bound=Message)

_ONLY_NODE = -1


class Connection:
    """Over a link that serves."""

    def __init__(
        self,
        network: NetworkClient,
        driver: BlockingDriver,
        link: Link,
        settings: NetworkSettings,
        clock: Clock,
    ) -> None:
        self.address = Address(link.node.host, link.node.port)
        self._network = network
        self._driver = driver
        self._link = link
        self._settings = settings
        self._clock = clock

    @property
    def name(self) -> str:
        return f"{self.address.host}:{self.address.port}"

    @property
    def is_open(self) -> bool:
        return self._network.link(self._link.node.id) is self._link

    @property
    def stage(self) -> Stage:
        return self._link.stage

    def version_of(self, request: type[Message], at_most: int | None = None) -> int:
        """The highest version that both sides speak. Raises UnsupportedVersionError."""
        if self._link.serving is None:
            raise ConnectionLostError(f"{self.name} does not serve")
        return self._link.serving.version_of(request, self._link.node, at_most)

    def request(
        self,
        message: Message,
        response: type[R],
        *,
        at_most: int | None = None,
        timeout_ms: int | None = None,
    ) -> R:
        """Send a request and wait for its response.

        `at_most` caps the version; `timeout_ms` replaces request_timeout_ms. Record fields of
        the response are views of a buffer that is nobody else's.
        Raises ConnectionLostError, RequestTimedOutError, MalformedResponseError or
        UnsupportedVersionError.
        """
        answer = self._exchange(message, response, at_most, timeout_ms)
        if not isinstance(answer, response):
            raise MalformedResponseError(f"{self.name} answered with {type(answer).__name__}")
        return answer

    def close(self) -> None:
        """For good."""
        self._driver.close()

    def _exchange(
        self,
        message: Message,
        response: type[Message],
        at_most: int | None,
        timeout_ms: int | None,
    ) -> Message:
        version = self.version_of(type(message), at_most)
        wait_ms = self._settings.request_timeout_ms if timeout_ms is None else timeout_ms
        deadline_ms = self._clock.now_ms() + wait_ms
        self._await_readiness(deadline_ms)
        now_ms = self._clock.now_ms()
        answers: list[Answer] = []
        request = ClientRequest(message, version, response, answers.append, deadline_ms - now_ms)
        self._network.links.send(self._link, request, now_ms)
        self._driver.run(self._network.links, lambda: bool(answers), deadline_ms)
        (answer,) = answers
        if isinstance(answer, ClientError):
            raise answer
        return answer

    def _await_readiness(self, deadline_ms: int) -> None:
        """It may want to be left alone for a while, or what was sent before is still on its way."""
        node_id = self._link.node.id

        def is_settled() -> bool:
            return not self.is_open or self._network.is_ready(node_id, self._clock.now_ms())

        settled = is_settled() or self._driver.run(self._network.links, is_settled, deadline_ms)
        if not self.is_open:
            raise ConnectionLostError(f"the connection to {self.name} is closed")
        if not settled:
            self.close()
            raise RequestTimedOutError(f"{self.name} took nothing in time")


class _OneNode:
    """A cluster of which one broker is known."""

    def __init__(self, address: Address) -> None:
        self.only = Node(_ONLY_NODE, *address)

    def nodes(self) -> list[Node]:
        return [self.only]

    def node(self, node_id: int) -> Node | None:
        return self.only if node_id == self.only.id else None


def connect_to_one(
    address: Address,
    settings: NetworkSettings,
    way_in: WayIn = PLAIN,
    *,
    clock: Clock | None = None,
    sockets: Sockets | None = None,
) -> Connection:
    """To whoever listens there, once requests may be sent, within request_timeout_ms.

    Raises ConnectionLostError, RequestTimedOutError, MalformedResponseError,
    AuthenticationFailedError, or BrokerError.
    """
    clock = clock or SystemClock()
    sockets = sockets or SelectorSockets(clock, way_in)
    random = Random()
    links = Links(settings, random, new_login=way_in.new_login)
    one = _OneNode(address)
    network = NetworkClient(settings, links, one, random)
    driver = BlockingDriver(links, sockets, clock)
    try:
        link = _serving_link(network, driver, one.only, settings, clock)
    except BaseException:
        driver.close()
        raise
    return Connection(network, driver, link, settings, clock)


def _serving_link(
    network: NetworkClient,
    driver: BlockingDriver,
    node: Node,
    settings: NetworkSettings,
    clock: Clock,
) -> Link:
    deadline_ms = clock.now_ms() + settings.request_timeout_ms

    def is_settled() -> bool:
        link = network.link(node.id)
        return link is None or isinstance(link.stage, Serving)

    network.ready(node.id, clock.now_ms())  # which begins it
    driver.run(network.links, is_settled, deadline_ms)
    link = network.link(node.id)
    if link is not None and isinstance(link.stage, Serving):
        return link
    raise network.failure(node.id) or RequestTimedOutError(f"no connection to {node} in time")
