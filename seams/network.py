"""Other brokers: TCP channels in a process, a modelled network in the simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from logquake.wire.schema import Message


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    """Where a broker listens."""

    broker_id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The answer to a request whose connection ended first: it may or may not have been done.

    ``refused``: it never began, since nobody listens at the address (ECONNREFUSED). A process
    that is only slow is not refused, its system accepts for it; so a refusal where a broker
    listened before says that the process is gone, or has closed its listener.
    """

    reason: str
    refused: bool = False


class Channel(Protocol):
    """One connection to one broker; requests are answered in the order they were sent.

    It connects on the first send and again after a loss. When the connection is lost, or cannot
    be made, every request in flight is answered with Disconnected; whoever sent decides on retries.
    A request that stays unanswered for the channel's time-out ends the connection in the same way,
    so that every request has an answer in the end.
    """

    def send(
        self, request: Message, version: int, done: Callable[[Message | Disconnected], None]
    ) -> None: ...

    def close(self) -> None:
        """Drop the connection; requests in flight are answered with Disconnected."""


class Tether(Protocol):
    """A connection that carries nothing, to hear when the broker at its other end is gone."""

    def close(self) -> None:
        """Let go of it; nothing is told any more."""


class Network(Protocol):
    def channel(self, endpoint: Endpoint, client_id: str) -> Channel: ...

    def tether(
        self,
        endpoint: Endpoint,
        held: Callable[[], None],
        ended: Callable[[Disconnected], None],
    ) -> Tether:
        """One attempt to connect, at once: held() when it succeeds, ended() when it does not, or
        later when the connection is lost. Neither is called from within; after ended() it is over.
        """
