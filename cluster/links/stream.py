"""One direction of a proxied connection: reads one socket, shapes, writes the other."""

from __future__ import annotations

import socket
from collections.abc import Callable

from logquake.cluster.links.effects import Conditions
from logquake.cluster.links.shaper import Ending, Shaper
from logquake.node.net.loop import EPOLLGONE, EPOLLIN, EPOLLOUT, EventLoop
from logquake.node.net.timers import LoopTimer

_NO_EVENTS = 0


class Side:
    """A connection's socket, and what the loop watches it for: a direction each way.

    What nobody wants to read or write is not watched at all: a peer's reset, of which epoll tells
    unasked, would else wake up the loop for as long as a fault keeps it from being passed on.
    """

    def __init__(self, loop: EventLoop, sock: socket.socket) -> None:
        self.socket = sock
        self.readable: Callable[[], None] = lambda: None
        self.writable: Callable[[], None] = lambda: None
        self._loop = loop
        self._fd = sock.fileno()
        self._wanted = _NO_EVENTS

    def want_to_read(self, wanted: bool) -> None:
        self._want(EPOLLIN, wanted)

    def want_to_write(self, wanted: bool) -> None:
        self._want(EPOLLOUT, wanted)

    def close(self) -> None:
        if self._wanted:
            self._loop.unwatch(self._fd)
            self._wanted = _NO_EVENTS
        self.socket.close()

    def _want(self, event: int, wanted: bool) -> None:
        before = self._wanted
        self._wanted = before | event if wanted else before & ~event
        if self._wanted == before:
            return
        if not before:
            self._loop.watch(self._fd, self._wanted, self._on_event)
        elif not self._wanted:
            self._loop.unwatch(self._fd)
        else:
            self._loop.rewatch(self._fd, self._wanted)

    def _on_event(self, events: int) -> None:
        if events & (EPOLLIN | EPOLLGONE) and self._wanted & EPOLLIN:
            self.readable()
        if events & (EPOLLOUT | EPOLLGONE) and self._wanted & EPOLLOUT:
            self.writable()


class Stream:
    """Bytes from ``source`` to ``sink``; ``scratch`` is what all streams read into.

    ``take`` gets what was read, and ``take_end`` how it ended: to be handed on to forward() and
    end(), at once or later. ``delivered`` is called when the sink was told of an end; ``no_sink``
    when it takes nothing any more.
    """

    def __init__(
        self,
        loop: EventLoop,
        source: Side,
        sink: Side,
        shaper: Shaper,
        scratch: memoryview,
        *,
        take_end: Callable[[Ending], None],
        delivered: Callable[[Ending], None],
        no_sink: Callable[[], None],
    ) -> None:
        self.take: Callable[[memoryview], None] = self.forward
        self._loop = loop
        self._source = source
        self._sink = sink
        self._shaper = shaper
        self._scratch = scratch
        self._take_end = take_end
        self._delivered = delivered
        self._no_sink = no_sink
        self._timer: LoopTimer | None = None
        self.has_ended = False  # the source has
        self.has_told_end = False  # the sink knows
        self.is_broken = False  # the sink takes nothing any more
        self._is_full = False  # the sink was, when last it was written to
        self._is_resting = False
        source.readable = self._read
        sink.writable = self._pump

    def stop(self) -> None:
        """The connection is over."""
        self.has_ended = self.is_broken = True
        self._shaper.discard()
        self._cancel_timer()

    def change(self, conditions: Conditions) -> None:
        """These hold now; at the beginning too, when it starts to read."""
        self._shaper.change(conditions, self._loop.now_ms())
        self._pump()

    def forward(self, data: memoryview | bytes) -> None:
        """Let bytes go on through the shaper; they are copied if they have to wait."""
        if self.is_broken:
            return
        if self._shaper.passes_all:
            sent = self._send(data)
            if sent == len(data) or self.is_broken:
                return
            data = data[sent:]
        self._shaper.arrive(bytes(data), self._loop.now_ms())
        self._pump()

    def end(self, how: Ending) -> None:
        """The sink is to hear of it, behind what is held."""
        self._shaper.arrive(how, self._loop.now_ms())
        self._pump()

    def rest(self, *, resting: bool) -> None:
        """Whether nothing more is to be read for now."""
        if self._is_resting != resting:
            self._is_resting = resting
            self._read_on()

    def _read(self) -> None:
        room_bytes = self._shaper.room_bytes
        try:
            size = self._source.socket.recv_into(self._scratch, min(room_bytes, len(self._scratch)))
        except BlockingIOError:
            return
        except OSError:
            self._on_end(Ending.RESET)
            return
        if size:
            self.take(self._scratch[:size])
        else:
            self._on_end(Ending.CLOSED)

    def _read_on(self) -> None:
        """As long as there is somewhere to put what is read."""
        has_ended = self.has_ended or self.is_broken
        has_room = not self._is_full and not self._is_resting and self._shaper.room_bytes > 0
        self._source.want_to_read(has_room and not has_ended)

    def _on_end(self, how: Ending) -> None:
        self.has_ended = True
        self._source.want_to_read(False)
        self._take_end(how)

    def _pump(self) -> None:
        """Send what may leave; see to it that the rest is thought of."""
        self._is_full = False
        now_ms = self._loop.now_ms()
        while not self.is_broken and not self._is_full:
            head = self._shaper.head(now_ms)
            if head is None:
                break
            self._let_leave(head)
        if not self.is_broken:
            self._sink.want_to_write(self._is_full)
            self._read_on()
            self._wake_up_later(now_ms)

    def _let_leave(self, head: memoryview | Ending) -> None:
        if isinstance(head, Ending):
            self._deliver(head)
            return
        sent = self._send(head)
        if not self.is_broken:
            self._shaper.leave(sent)
            self._is_full = sent < len(head)

    def _wake_up_later(self, now_ms: int) -> None:
        self._cancel_timer()
        wait_ms = None if self._is_full else self._shaper.wait_ms(now_ms)
        if wait_ms is not None:
            self._timer = self._loop.call_later(max(wait_ms, 1), self._pump)

    def _deliver(self, how: Ending) -> None:
        if how is Ending.CLOSED:
            self._shaper.leave(0)
            self.has_told_end = True
            try:
                self._sink.socket.shutdown(socket.SHUT_WR)
            except OSError:
                self._break()
                return
        self._delivered(how)

    def _send(self, data: memoryview | bytes) -> int:
        try:
            return self._sink.socket.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            self._break()
            return 0

    def _break(self) -> None:
        """What the sink's own end has to say to that comes the other way."""
        self.is_broken = True
        self._shaper.discard()
        self._cancel_timer()
        self._source.want_to_read(False)
        self._sink.want_to_write(False)
        self._no_sink()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
