"""What the controller, and the broker that hosts it, ask of the outside: time and other brokers.

Real processes plug in the event loop and TCP channels; the simulation plugs in its own.
ZooKeeper's port is logquake.zk.operations.Session, the disk's is logquake.storage.disk.Disk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from logquake.wire.schema import Message


class Timer(Protocol):
    def cancel(self) -> None: ...


class Scheduler(Protocol):
    """Time. Everything that waits, waits through here."""

    def now_ms(self) -> int:
        """Monotonic milliseconds, for lags and time-outs."""

    def wall_ms(self) -> int:
        """Milliseconds since the Unix epoch, for what is written down."""

    def call_later(self, delay_ms: float, action: Callable[[], None]) -> Timer:
        """Call action once, on the loop, after delay_ms."""


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
