"""One life of one connection: its stage, its received bytes, its requests in flight."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from logquake.client.errors import ClientError, UnsupportedVersionError
from logquake.client.network.effects import Node
from logquake.client.network.frames import Frames
from logquake.wire.sasl.authenticator import LoggedIn
from logquake.wire.schema import Message

Answer = Message | ClientError
"""The outcome of a request. Errors are passed as values: the sender decides what they mean."""

Done = Callable[[Answer], None]


class Login(Protocol):
    """One authentication by SASL, without I/O."""

    def start(self, spoken: Mapping[int, tuple[int, int]]) -> bytes:
        """The first frame to send, including its length; ``spoken`` are the broker's versions.
        This may take long.

        Raises AuthenticationFailedError.
        """

    def receive(self, frame: bytes) -> bytes | LoggedIn:
        """The next frame to send, until the broker has authenticated us.

        Raises AuthenticationFailedError, and ProtocolError for an invalid response.
        """


@dataclass(frozen=True, slots=True)
class Resolving:
    """The host's addresses are being looked up."""


@dataclass(frozen=True, slots=True)
class Connecting:
    """TCP is connecting, and TLS if it is used."""


@dataclass(frozen=True, slots=True)
class AskingVersions:
    """ApiVersions was sent in that version."""

    version: int
    correlation_id: int


@dataclass(frozen=True, slots=True)
class LoggingIn:
    login: Login
    versions: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Serving:
    """Requests may be sent; ``versions`` are the broker's ranges by API key.

    The first request from ``login_due_ms`` on waits until we have logged in again.
    """

    versions: Mapping[int, tuple[int, int]]
    login_due_ms: int | None = None

    def version_of(self, request: type[Message], broker: Node, at_most: int | None) -> int:
        """The highest version that both sides speak. Raises UnsupportedVersionError."""
        schema = request.__schema__
        if schema.key is None:
            raise TypeError(f"{request.__name__} is no request")
        if schema.key not in self.versions:
            raise UnsupportedVersionError(f"{broker} does not speak {request.__name__}")
        lowest, highest = self.versions[schema.key]
        bound = highest if at_most is None else at_most
        version = min(highest, schema.versions.last, bound)
        if version < max(lowest, schema.versions.first):
            raise UnsupportedVersionError(
                f"{broker} speaks {request.__name__} {lowest} to {highest}, this client "
                f"{schema.versions.first} to {schema.versions.last if at_most is None else at_most}"
            )
        return version


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """``response`` is None for a request without a response: ``done`` then gets the request's own
    message once it has left. ``timeout_ms`` overrides request.timeout.ms, ``max_response_bytes``
    the settings' limit.
    """

    message: Message
    version: int
    response: type[Message] | None
    done: Done
    timeout_ms: int | None = None
    max_response_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class LoggingInAnew:
    """Renews the session (KIP-368): after the responses in flight, and before ``held`` is sent."""

    login: Login
    serving: Serving
    held: ClientRequest


Stage = Resolving | Connecting | AskingVersions | LoggingIn | Serving | LoggingInAnew


@dataclass(slots=True, eq=False)
class InFlight:
    correlation_id: int
    request: ClientRequest
    deadline_ms: int


@dataclass(slots=True, eq=False)
class Link:
    """Ids are never reused, so events of a link that is over reach nobody."""

    id: int
    node: Node
    frames: Frames
    setup_deadline_ms: int  # for all stages but Serving
    used_at_ms: int
    stage: Stage = field(default_factory=Resolving)
    in_flight: deque[InFlight] = field(default_factory=deque)  # oldest first
    has_unsent: bool = False  # the driver has bytes that have not left yet
    is_waited_for: bool = False  # a sender had to wait meanwhile
    throttled_until_ms: int = 0  # as the broker demands (KIP-219)
    login_begins: bool = False  # the login's first frame is being made
    correlation_id: int = 0

    def next_correlation_id(self) -> int:
        self.correlation_id = (self.correlation_id + 1) & 0x7FFFFFFF
        return self.correlation_id

    @property
    def serving(self) -> Serving | None:
        """The stage Serving, even if a login has to finish first."""
        if isinstance(self.stage, LoggingInAnew):
            return self.stage.serving
        return self.stage if isinstance(self.stage, Serving) else None

    def unanswered(self) -> list[ClientRequest]:
        """Oldest first."""
        held = [self.stage.held] if isinstance(self.stage, LoggingInAnew) else []
        return [*(each.request for each in self.in_flight), *held]

    def may_send(self, now_ms: int, max_in_flight: int) -> bool:
        """Whether to send another request: as in Kafka, once the last left (InFlightRequests)."""
        if self.has_unsent:
            self.is_waited_for = True
            return False
        return (
            len(self.in_flight) < max_in_flight
            and self.throttled_until_ms <= now_ms
            and isinstance(self.stage, Serving)
        )

    def has_left(self) -> bool:
        """All bytes have left. Returns whether a sender was waiting for that."""
        was_waited_for, self.is_waited_for = self.is_waited_for, False
        self.has_unsent = False
        return was_waited_for

    def due_ms(self, max_idle_ms: int) -> int:
        """When it times out, if nothing happens before."""
        in_flight, is_serving = self.in_flight, isinstance(self.stage, Serving)
        if not in_flight:
            return self.used_at_ms + max_idle_ms if is_serving else self.setup_deadline_ms
        due_ms = in_flight[0].deadline_ms
        for each in in_flight:
            if each.deadline_ms < due_ms:
                due_ms = each.deadline_ms
        return due_ms if is_serving else min(due_ms, self.setup_deadline_ms)

    def throttle(self, throttle_ms: int, now_ms: int) -> None:
        """Pause sending. Requests in flight get as much more time."""
        self.throttled_until_ms = max(self.throttled_until_ms, now_ms + throttle_ms)
        for each in self.in_flight:
            each.deadline_ms += throttle_ms
