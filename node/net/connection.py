"""One client's connection: frames in, requests handed on in order, responses out in that order.

Kafka mutes a connection until each answer is sent. So does this one, unless the handler of the last
request lets the next one of the same API follow (``Request.next_may_follow``): a Produce that waits
for its followers may, which with acks=all is worth a replication round trip a request.

A frame that cannot be parsed, or asks for what is not served, closes the connection, as in Kafka;
only ApiVersions has a fallback answer. No response is sent for such a frame, since a client that
sent it would not find its place in the stream again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from logquake.node.authentication.sasl_steps import Admission, Refusal
from logquake.node.net.buffer import ReceiveBuffer
from logquake.node.net.loop import EPOLLGONE, EPOLLIN, EPOLLOUT, NO_PASS
from logquake.node.net.memory import MemoryClaim
from logquake.node.net.output import Output, TruncatedSliceError
from logquake.node.net.parser import ParsedRequest, VersionFallback
from logquake.node.net.sasl_gate import SaslGate
from logquake.node.net.shared import Shared
from logquake.node.net.slot import Slot
from logquake.node.net.tls.tls_socket import TlsSocket, Transport
from logquake.node.requests.request import Request
from logquake.seams.scheduler import Timer
from logquake.wire.errors import ProtocolError
from logquake.wire.listeners import ListenerName
from logquake.wire.principals import ANONYMOUS, KafkaPrincipal

_MAX_REQUESTS_PER_PASS = 64  # then the other connections get their turn


class Connection:
    """Serves one accepted socket, and asks at the gate, where there is one, who is there."""

    __slots__ = (
        "_blocked",
        "_buffer",
        "_bytes_in_progress",
        "_close_once_sent",
        "_flushing_later",
        "_gate",
        "_interest",
        "_limits",
        "_loop",
        "_memory",
        "_muted",
        "_muted_until_ms",
        "_on_close",
        "_output",
        "_progress_ms",
        "_received_in_pass",
        "_received_ms",
        "_resuming",
        "_shared",
        "_slots",
        "_socket",
        "_tls",
        "is_open",
        "last_active_ms",
        "listener",
        "peer_host",
        "peer_port",
        "principal",
    )

    def __init__(
        self,
        transport: Transport,
        peer: tuple[str, int],
        listener: ListenerName,
        shared: Shared,
        on_close: Callable[[Connection], None],
        *,
        principal: KafkaPrincipal = ANONYMOUS,
        gate: SaslGate | None = None,
    ) -> None:
        self._socket = transport
        self._tls = transport if isinstance(transport, TlsSocket) else None
        self.peer_host, self.peer_port = peer
        self.listener = listener
        self.principal = principal
        self._gate = gate
        self._shared = shared
        self._on_close = on_close
        self._loop = shared.loop
        self._limits = shared.limits
        self._buffer = ReceiveBuffer(
            self._limits.max_request_bytes if gate is None else self._limits.max_sasl_bytes
        )
        self._memory = MemoryClaim(shared.memory, self._on_memory)
        self._output = Output()
        self._slots: deque[Slot] = deque()
        self._bytes_in_progress = 0
        self._blocked = False  # a whole frame waits in the buffer for its turn
        self._resuming = False
        self._received_in_pass = NO_PASS
        self._muted: Timer | None = None  # of a client over its quota, until then
        self._muted_until_ms = 0
        self._flushing_later = False
        self._close_once_sent: str | None = None  # why no further request will be taken
        self.is_open = True
        self.last_active_ms = self._received_ms = self._loop.now_ms()
        # When a request was last whole, or the memory for one was granted.
        self._progress_ms = self._received_ms
        self._interest = EPOLLIN
        self._loop.watch(transport.fileno(), EPOLLIN, self._on_event)
        if self._tls is not None and self._tls.has_more:  # it came with the end of the handshake
            self._resume_later()

    @property
    def is_idle(self) -> bool:
        """No request waits for the broker; unread answers wait for the client."""
        return not self._slots

    def close(self, why: str, *, report: bool = False) -> None:
        """Close at once; answers that still come are dropped. report puts it in the journal."""
        if not self.is_open:
            return
        self.is_open = False
        self._loop.unwatch(self._socket.fileno())
        self._socket.close()
        self._slots.clear()
        # Whoever still knows this connection must not keep what it held.
        self._buffer.discard()
        self._output.discard()
        self._memory.end()
        if self._muted is not None:
            self._muted.cancel()
        if report:
            self._report(why)
        self._on_close(self)

    def relax(self, *, at_once: bool = False) -> None:
        """Give grown receive memory back when recent requests did not need it, or at once."""
        if at_once:
            self._buffer.shrink()
        else:
            self._buffer.relax()
        # A full one is about to grow: then the claim has just been granted.
        if self._memory.is_held and not self._buffer.is_grown and not self._buffer.is_full:
            self._memory.release()

    def is_holding_since(self, since_ms: int) -> bool:
        """Whether memory has been held that long for a request that is still not here."""
        return self._memory.is_held and not self._blocked and self._progress_ms <= since_ms

    def is_authenticating_since(self, since_ms: int) -> bool:
        """Whether it has been at it that long; one that says nothing at all is only idle."""
        if self._gate is None or self._gate.has_admitted:
            return False
        begun_ms = self._gate.begun_ms
        if begun_ms is None:
            return not self._buffer.is_empty and self._progress_ms <= since_ms
        return begun_ms <= since_ms

    # In

    def _on_event(self, events: int) -> None:
        if events & EPOLLGONE:
            self.close("reset by the client")
            return
        if events & EPOLLIN:
            self._receive()
        if events & EPOLLOUT and self.is_open:
            self._flush()

    def _receive(self) -> None:
        if self._tls is not None and not self._is_first_of_pass():
            return
        if self._buffer.is_full and not self._memory.take(self._buffer.needed):
            self._update_interest()
            return
        try:
            received = self._buffer.fill(self._socket)
        except BlockingIOError:
            return
        except OSError as error:
            self.close(str(error))
            return
        self.last_active_ms = self._received_ms = self._loop.now_ms()
        if received:
            self._hand_on()
        else:
            self._close_once_sent = "closed by the client"
            self._flush()

    def _is_first_of_pass(self) -> bool:
        """TLS may have more at once. To receive it would overwrite requests whose bytes are only
        looked at when the pass ends: records that are staged.
        """
        this = self._loop.pass_number
        if self._received_in_pass == this:
            return False
        self._received_in_pass = this
        return True

    def _hand_on(self) -> None:
        """Hand on the requests whose turn it is, up to the bound of a pass."""
        self._blocked = False
        for _ in range(_MAX_REQUESTS_PER_PASS):
            if not self._hand_on_one():
                break
        else:
            self._blocked = True
            self._resume_later()
        if self.is_open:
            if self._memory.pool_is_short:
                self.relax(at_once=True)
            self._update_interest()

    def _hand_on_one(self) -> bool:
        """Whether a request was there, and its turn, and more came than that."""
        try:
            frame = self._buffer.frame()
            if frame is None:
                return False
            if not self._is_turn_of(frame):
                self._blocked = True
                return False
            if self._gate is not None and self._gate.claims(frame):
                return self._authenticate(frame, self._gate)
            parsed = self._shared.parser.parse(frame)
        except ProtocolError as error:
            self._end_after_answers(str(error))
            return False
        self._buffer.consume()
        self._progress_ms = self._received_ms
        self._handle(parsed, len(frame))
        return self.is_open and not self._buffer.is_empty

    def _end_after_answers(self, why: str) -> None:
        """Of what was asked before the bytes that cannot be read, as by Kafka."""
        if self._close_once_sent is None:
            self._report(why)
            self._close_once_sent = why
            self._flush_later()

    def _authenticate(self, frame: memoryview, gate: SaslGate) -> bool:
        """A step of SASL, whose answer leaves now, or, where it refuses, after a while."""
        if gate.has_refused:
            self._blocked = True
            return False
        step = gate.receive(frame)
        self._buffer.consume()
        self._progress_ms = self._received_ms
        if isinstance(step, Refusal):
            self._report(f"not authenticated: {step.why}")
            self._loop.call_later(
                self._limits.failed_authentication_delay_ms, lambda: self._refuse(step)
            )
            return True
        if isinstance(step, Admission):
            self.principal = step.principal
            self._buffer.allow(self._limits.max_request_bytes)
        self._output.add([step.frame])
        self._flush_later()
        return True

    def _refuse(self, refusal: Refusal) -> None:
        """After the delay, so that whoever guesses passwords waits for each (KIP-306)."""
        if self.is_open:
            self._close_once_sent = refusal.why
            self._output.add([refusal.frame])
            self._flush_later()

    def _is_turn_of(self, frame: memoryview) -> bool:
        limits, slots = self._limits, self._slots
        if self._close_once_sent or self._muted is not None:
            return False
        if self._output.pending_bytes > limits.max_unsent_bytes:
            return False
        if not slots:
            return True
        last = slots[-1]
        return (
            last.next_may_follow
            and int.from_bytes(frame[:2]) == last.api_key
            and len(slots) < limits.max_requests_in_progress
            and self._bytes_in_progress + len(frame) <= limits.max_bytes_in_progress
        )

    def _handle(self, parsed: ParsedRequest | VersionFallback, size: int) -> None:
        slot = Slot(self, parsed.header, size)
        self._slots.append(slot)
        self._bytes_in_progress += size
        if isinstance(parsed, VersionFallback):
            slot.reply(parsed.answer)
            return
        request = Request(
            parsed.header,
            parsed.body,
            self._received_ms,
            self.peer_host,
            self.listener,
            slot.reply,
            slot.close,
            principal=self.principal,
            size=size,
            throttle=self._mute,
        )
        self._loop.passes.api_key = parsed.header.api_key
        self._shared.handler.handle(request)
        slot.next_may_follow = request.next_may_follow

    # Out

    def on_answered(self) -> None:
        """A slot was answered: move the answers whose turn it is to the output."""
        slots = self._slots
        try:
            while slots and slots[0].parts is not None:
                slot = slots.popleft()
                self._bytes_in_progress -= slot.size
                self._output.add(slot.parts or ())
                if slot.close_reason is not None:
                    self._end(slot.close_reason)
        except (TruncatedSliceError, OSError) as error:  # the file's, not the socket's
            self.close(str(error), report=True)
            return
        self._flush_later()

    def _flush_later(self) -> None:
        if not self._flushing_later:
            self._flushing_later = True
            self._loop.call_before_wait(self._flush)

    def _flush(self) -> None:
        self._flushing_later = False
        if not self.is_open:
            return
        try:
            if self._output.flush(self._socket):
                self.last_active_ms = self._loop.now_ms()
        except TruncatedSliceError as error:
            self.close(str(error), report=True)
            return
        except OSError as error:
            self.close(str(error))
            return
        if self._close_once_sent and not self._slots and not self._output.pending_bytes:
            self.close(self._close_once_sent)
            return
        if self._blocked:
            self._resume_later()
        self._update_interest()

    def _end(self, why: str) -> None:
        """The answer is the end: what was asked after it gets none."""
        self._report(why)
        self._close_once_sent = why
        self._slots.clear()

    def _report(self, why: str) -> None:
        self._shared.faults.report(f"client {self.peer_host}:{self.peer_port}", why)

    def _on_memory(self) -> None:
        self._progress_ms = self._loop.now_ms()
        self._update_interest()

    def _mute(self, for_ms: int) -> None:
        """Take no request for so long; the longest of several counts."""
        until_ms = self._loop.now_ms() + for_ms
        if not self.is_open or until_ms <= self._muted_until_ms:
            return
        if self._muted is not None:
            self._muted.cancel()
        self._muted_until_ms = until_ms
        self._muted = self._loop.call_later(for_ms, self._unmute)

    def _unmute(self) -> None:
        self._muted = None
        self._resume_later()

    def _resume_later(self) -> None:
        if not self._resuming:
            self._resuming = True
            self._loop.call_soon(self._resume)

    def _resume(self) -> None:
        self._resuming = False
        if not self.is_open:
            return
        if self._blocked or self._tls is None:
            self._hand_on()
        else:
            self._receive()

    def _update_interest(self) -> None:
        """Read unless a frame waits; wait for room only when a flush left something."""
        held_back = self._blocked or self._close_once_sent or self._memory.is_waiting
        interest = 0 if held_back else EPOLLIN
        if interest and self._tls is not None and self._tls.has_more:
            # Of what TLS has taken in epoll knows nothing. What is called soon may be called in
            # this pass, and before the wait its requests are done with.
            self._loop.call_before_wait(self._resume_later)
        if self._output.pending_bytes and not self._flushing_later:
            interest |= EPOLLOUT
        if interest != self._interest:
            self._interest = interest
            self._loop.rewatch(self._socket.fileno(), interest)
