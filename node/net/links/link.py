"""One TCP connection to another broker, from connecting to lost.

Requests leave in the order they were sent and are answered in that order; several may be in
flight. Where the other broker wants to know who this one is, they wait until it does, and again
when the session nears its end: then those in flight are answered first (KIP-368). The connection
is given up when the oldest of them has waited for the time-out, since an answer that came later
could not be told from the next one's.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from logquake.node.net.buffer import ReceiveBuffer
from logquake.node.net.links.connector import Connector, ConnectSettings
from logquake.node.net.links.entry import OPEN_ENTRY, LinkEntry
from logquake.node.net.loop import EPOLLGONE, EPOLLIN, EPOLLOUT, NO_PASS, EventLoop
from logquake.node.net.output import Output, TruncatedSliceError
from logquake.node.net.timers import LoopTimer
from logquake.node.net.tls.handshake import TlsHandshake
from logquake.node.net.tls.tls_socket import TlsSocket, Transport
from logquake.seams.network import Disconnected
from logquake.wire.api import response_type
from logquake.wire.errors import ProtocolError
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.sasl.authenticator import (
    LoggedIn,
    NotAuthenticatedError,
    SaslClientAuthenticator,
)
from logquake.wire.schema import Message, Part

_RENEW_AFTER = 0.85  # of a session's lifetime, as Kafka's clients at the earliest

Done = Callable[[Message | Disconnected], None]


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """How requests go to other brokers. Every one of them has a response."""

    connect: ConnectSettings = field(default_factory=ConnectSettings)
    # A request unanswered for so long ends the connection (Kafka's *.socket.timeout.ms).
    request_timeout_ms: int = 30_000
    # A longer response ends the connection. As in Kafka there is no bound of its own by default:
    # the peer is a broker, and memory follows the bytes that came, not the length announced.
    max_response_bytes: int = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _InFlight:
    header: RequestHeader
    response: type[Message]
    deadline_ms: int
    done: Done


class Link:
    """Starts to connect after delay_ms. A request's done is called on a later pass than send().

    on_lost is called once, when the link is given up, before its requests are told.
    """

    def __init__(
        self,
        loop: EventLoop,
        address: tuple[str, int],
        settings: LinkSettings,
        *,
        delay_ms: float,
        on_lost: Callable[[], None],
        entry: LinkEntry = OPEN_ENTRY,
    ) -> None:
        self._loop = loop
        self._settings = settings
        self._on_lost = on_lost
        self._entry = entry
        self._address = address
        self._socket: Transport | None = None
        self._handshake: TlsHandshake | None = None
        self._login: SaslClientAuthenticator | None = None  # while it is under way
        # Requests that wait for the login, encoded, and when the next login is due.
        self._held: list[Part] | None = [] if entry.new_login is not None else None
        self._renew_at_ms: float | None = None
        self._unanswered = 0  # requests in flight that were not held
        self._buffer = ReceiveBuffer(settings.max_response_bytes)
        self._output = Output()
        self._in_flight: deque[_InFlight] = deque()
        self._deadline_timer: LoopTimer | None = None
        self._is_lost = False
        self._received_in_pass = NO_PASS
        self._flushing_later = False
        self._interest = 0
        self._connector = Connector(
            loop,
            address,
            settings.connect,
            delay_ms=delay_ms,
            connected=self._on_connected,
            failed=self._end,
        )

    def send(self, header: RequestHeader, request: Message, done: Done) -> None:
        """Queue a request; it leaves at the end of this pass, or once connected."""
        response = response_type(header.api_key)
        if response is None:
            raise ValueError(f"no API has key {header.api_key}")
        self._hold_or_send(encode_request(header, request))
        deadline_ms = self._loop.now_ms() + self._settings.request_timeout_ms
        self._in_flight.append(_InFlight(header, response, deadline_ms, done))
        if self._deadline_timer is None:
            self._await_deadline()
        self._flush_later()

    def lose(self, reason: str) -> None:
        """Give the connection up; requests in flight are told in the next pass."""
        self._end(Disconnected(reason))

    def _end(self, why: Disconnected) -> None:
        if self._is_lost:
            return
        self._is_lost = True
        self._connector.cancel()
        if self._handshake is not None:
            self._handshake.close()
        if self._deadline_timer is not None:
            self._deadline_timer.cancel()
        if self._socket is not None:
            self._loop.unwatch(self._socket.fileno())
            self._socket.close()
        self._on_lost()
        self._loop.call_soon(lambda: self._tell_lost(why))

    def _tell_lost(self, answer: Disconnected) -> None:
        while self._in_flight:
            self._in_flight.popleft().done(answer)

    def _on_connected(self, sock: socket.socket) -> None:
        if self._entry.tls is None:
            self._use(sock)
            return
        self._handshake = TlsHandshake(
            self._loop,
            sock,
            self._entry.tls,
            server_name=self._address[0],
            done=self._use,
            failed=self._on_refused,
        )

    def _use(self, transport: Transport) -> None:
        self._handshake = None
        self._socket = transport
        self._interest = EPOLLIN
        self._loop.watch(transport.fileno(), EPOLLIN, self._on_event)
        if self._held is not None:
            self._begin_login()
        self._flush_later()

    def _on_refused(self, why: str | None) -> None:
        """The other broker, or this one, does not like whom it sees."""
        reason = why or "closed by the broker"
        self._entry.report(f"broker {self._address[0]}:{self._address[1]}", reason)
        self.lose(reason)

    # Saying who we are

    def _hold_or_send(self, parts: list[Part]) -> None:
        if self._renew_at_ms is not None and self._loop.now_ms() >= self._renew_at_ms:
            self._renew_at_ms = None
            self._held = []
            if not self._unanswered:
                self._begin_login()
        if self._held is None:
            self._unanswered += 1
            self._output.add(parts)
        else:
            self._held += parts

    def _begin_login(self) -> None:
        if self._entry.new_login is not None:
            self._login = self._entry.new_login()
            self._output.add([self._login.start()])
            self._flush_later()

    def _on_login_frame(self, login: SaslClientAuthenticator, frame: memoryview) -> None:
        """Raises ProtocolError."""
        try:
            step = login.receive(bytes(frame))
        except NotAuthenticatedError as error:
            self._on_refused(f"not authenticated: {error}")
            return
        if isinstance(step, LoggedIn):
            self._on_logged_in(step)
        else:
            self._output.add([step])
        self._flush_later()

    def _on_logged_in(self, session: LoggedIn) -> None:
        self._login = None
        if session.session_lifetime_ms:
            lasts_ms = session.session_lifetime_ms * _RENEW_AFTER
            self._renew_at_ms = self._loop.now_ms() + lasts_ms
        held, self._held = self._held, None
        self._output.add(held or [])
        self._unanswered = len(self._in_flight)

    def _on_event(self, events: int) -> None:
        if events & (EPOLLIN | EPOLLGONE):
            self._receive()
        if events & EPOLLOUT:
            self._flush()

    # Responses

    def _receive(self) -> None:
        if self._socket is None or self._is_lost or not self._is_first_of_pass():
            return
        try:
            received = self._buffer.fill(self._socket)
        except BlockingIOError:
            return
        except OSError as error:
            self.lose(str(error))
            return
        if not received:
            self.lose("closed by the broker")
        while not self._is_lost and self._deliver_response():
            pass
        if isinstance(self._socket, TlsSocket) and self._socket.has_more and not self._is_lost:
            # Epoll knows nothing of it. Not in this pass, to whose end responses stay as they are.
            self._loop.call_before_wait(lambda: self._loop.call_soon(self._receive))

    def _is_first_of_pass(self) -> bool:
        """Epoll may know of something too when what TLS had left is looked for."""
        this = self._loop.pass_number
        if self._received_in_pass == this:
            return False
        self._received_in_pass = this
        return True

    def _deliver_response(self) -> bool:
        """Whether a whole response was there."""
        try:
            frame = self._buffer.frame()
            if frame is None:
                return False
            if self._login is not None:
                self._on_login_frame(self._login, frame)
                self._buffer.consume()
                return True
            answered, response = self._decode(frame)
        except ProtocolError as error:
            self.lose(str(error))
            return False
        self._buffer.consume()
        self._unanswered -= 1
        if self._held is not None and not self._unanswered:
            self._begin_login()
        answered.done(response)
        return True

    def _decode(self, frame: memoryview) -> tuple[_InFlight, Message]:
        if not self._in_flight:
            raise ProtocolError("a response to no request")
        oldest = self._in_flight[0]
        header = oldest.header
        correlation_id, response = decode_response(oldest.response, header.api_version, frame)
        if correlation_id != header.correlation_id:
            raise ProtocolError(
                f"response to request {correlation_id} instead of {header.correlation_id}"
            )
        return self._in_flight.popleft(), response

    def _await_deadline(self) -> None:
        """Look again when the oldest request's time is up: one timer, whatever the traffic."""
        self._deadline_timer = None
        if not self._in_flight:
            self._buffer.relax()
            return
        left_ms = self._in_flight[0].deadline_ms - self._loop.now_ms()
        if left_ms <= 0:
            self.lose(f"no response within {self._settings.request_timeout_ms} ms")
        else:
            self._deadline_timer = self._loop.call_later(left_ms, self._await_deadline)

    # Requests

    def _flush_later(self) -> None:
        if self._socket is not None and not self._flushing_later:
            self._flushing_later = True
            self._loop.call_before_wait(self._flush)

    def _flush(self) -> None:
        self._flushing_later = False
        if self._socket is None or self._is_lost:
            return
        try:
            self._output.flush(self._socket)
        except (TruncatedSliceError, OSError) as error:
            self.lose(str(error))
            return
        interest = EPOLLIN | EPOLLOUT if self._output.pending_bytes else EPOLLIN
        if interest != self._interest:
            self._interest = interest
            self._loop.rewatch(self._socket.fileno(), interest)
