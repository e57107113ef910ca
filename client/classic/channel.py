"""One connection to one broker, and waiting for its response (kafka.network.BlockingChannel).

It uses the versions of its time, without asking which ones the broker supports. For one thread at a
time; any thread may interrupt its wait.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from threading import Lock
from typing import Protocol, TypeVar

from logquake.client.classic.versions import Release
from logquake.client.clock import Clock, SystemClock
from logquake.client.driving.blocking import BlockingDriver
from logquake.client.driving.sockets import SelectorSockets, Sockets
from logquake.client.driving.waker import Waker
from logquake.client.errors import (
    ClientError,
    ClosedError,
    ConnectionLostError,
    MalformedResponseError,
    RequestTimedOutError,
)
from logquake.client.network.effects import Node
from logquake.client.network.link import Answer, ClientRequest, Link, Serving
from logquake.client.network.links import Links
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings.addresses import Address
from logquake.wire.schema import Message

R = TypeVar("R", bound=Message)

_ONLY_NODE = 0
_NEVER_MS = 2**62  # these clients do not close idle connections: brokers do


class Channel(Protocol):
    """A BlockingChannel as seen by its callers."""

    def ask(self, request: Message, response: type[R], *, at_most: int | None = None) -> R: ...

    def tell(self, request: Message) -> None: ...

    def interrupt(self) -> None: ...

    def disconnect(self) -> None: ...


Dial = Callable[[Address, str, int], Channel]
"""Makes a channel from address, client id and time-out in milliseconds; it connects later."""


def dial_as(release: Release) -> Dial:
    """Makes channels with that release's versions."""

    def dial(address: Address, client_id: str, timeout_ms: int) -> Channel:
        return BlockingChannel(address, client_id, timeout_ms, release=release)

    return dial


class BlockingChannel:
    """Connects on the first request, and again after a failure."""

    def __init__(
        self,
        address: Address,
        client_id: str,
        timeout_ms: int,
        *,
        release: Release = Release.V0_8_2,
        clock: Clock | None = None,
        new_sockets: Callable[[Clock, Waker], Sockets] | None = None,
    ) -> None:
        self._clock: Clock = clock or SystemClock()
        self._timeout_ms = timeout_ms
        self._node = Node(_ONLY_NODE, address.host, address.port)
        settings = NetworkSettings(
            client_id=client_id,
            request_timeout_ms=timeout_ms,
            connection_setup_timeout_ms=timeout_ms,
            connection_setup_timeout_max_ms=timeout_ms,
            connections_max_idle_ms=_NEVER_MS,
            known_versions=release.speaks,
        )
        self._links = Links(settings, Random())
        self._waker = Waker()
        sockets = (new_sockets or _selecting)(self._clock, self._waker)
        self._driver = BlockingDriver(self._links, sockets, self._clock)
        self._ending = Lock()
        self._is_interrupted = False
        self._is_closed = False

    def ask(self, request: Message, response: type[R], *, at_most: int | None = None) -> R:
        """Raises ConnectionLostError, RequestTimedOutError, MalformedResponseError, ClosedError."""
        answer = self._exchange(request, response, at_most)
        if not isinstance(answer, response):
            raise MalformedResponseError(f"{self._node} answered with {type(answer).__name__}")
        return answer

    def tell(self, request: Message) -> None:
        """A request without a response: Produce with acks=0. Raises as ask()."""
        self._exchange(request, None, None)

    def interrupt(self) -> None:
        """From any thread: waiting and later calls raise ClosedError."""
        with self._ending:
            self._is_interrupted = True
            if not self._is_closed:
                self._waker.wake()

    def disconnect(self) -> None:
        """Close for good."""
        with self._ending:
            was_closed, self._is_closed = self._is_closed, True
            self._is_interrupted = True
        if not was_closed:
            self._driver.close()
            self._waker.close()

    def _exchange(
        self, request: Message, response: type[Message] | None, at_most: int | None
    ) -> Message:
        deadline_ms = self._clock.now_ms() + self._timeout_ms
        link, stage = self._serving_link(deadline_ms)
        version = stage.version_of(type(request), self._node, at_most)
        answers: list[Answer] = []
        now_ms = self._clock.now_ms()
        left_ms = max(0, deadline_ms - now_ms)
        asked = ClientRequest(request, version, response, answers.append, left_ms)
        self._links.send(link, asked, now_ms)
        self._run_until(lambda: bool(answers), deadline_ms)
        if not answers:
            self._give_up(link, RequestTimedOutError(f"no answer from {self._node} in time"))
        (answer,) = answers
        if isinstance(answer, ClientError):
            raise answer
        return answer

    def _serving_link(self, deadline_ms: int) -> tuple[Link, Serving]:
        """Ignores throttling, which these clients do not know: brokers enforce it."""
        if not self._is_interrupted and self._links.states.link(_ONLY_NODE) is None:
            self._links.begin(self._node, self._clock.now_ms())
        self._run_until(self._is_settled, deadline_ms)
        late = RequestTimedOutError(f"no connection to {self._node} in time")
        link = self._links.states.link(_ONLY_NODE)
        if link is None:
            raise self._links.states.failure(_ONLY_NODE) or late
        if not isinstance(link.stage, Serving):
            self._give_up(link, late)
            raise late
        return link, link.stage

    def _is_settled(self) -> bool:
        link = self._links.states.link(_ONLY_NODE)
        return link is None or (isinstance(link.stage, Serving) and not link.has_unsent)

    def _run_until(self, is_done: Callable[[], bool], deadline_ms: int) -> None:
        if not self._is_interrupted:
            self._driver.run(self._links, lambda: self._is_interrupted or is_done(), deadline_ms)
        if self._is_interrupted:
            raise ClosedError(f"the channel to {self._node} was closed")

    def _give_up(self, link: Link, why: ConnectionLostError | RequestTimedOutError) -> None:
        self._links.end(link, why, self._clock.now_ms())
        self._driver.perform()


def _selecting(clock: Clock, waker: Waker) -> Sockets:
    return SelectorSockets(clock, waker=waker)
