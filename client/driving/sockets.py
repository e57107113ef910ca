"""Carries out the network core's effects with non-blocking sockets and a selector.

For use by one thread. By default it looks names up and obtains tokens in place, which may block.
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import islice
from typing import Protocol, cast

from logquake.client.clock import Clock
from logquake.client.driving.aside import Aside, OnThreads, in_place
from logquake.client.driving.driven import Driven
from logquake.client.driving.names import addresses_of, is_address, place_of
from logquake.client.driving.transports import HandshakeError, Plain, Shaken, Tls, Transport
from logquake.client.driving.waker import Waker
from logquake.client.driving.way_in import PLAIN, WayIn
from logquake.client.network.effects import Close, Connect, Effect, LogIn, Resolve, Write

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_PARTS_AT_ONCE = 256  # less than IOV_MAX on any system
_LONGEST_WAIT_MS = 24 * 3_600_000  # poll() takes an int; for longer waits the driver calls again
_INTEREST_OF = {Shaken.READ: _READ, Shaken.WRITE: _WRITE}


class Sockets(Protocol):
    """What a driver needs from the outside world."""

    def perform(self, links: Driven) -> bool:
        """Carry out the links' effects, and report events that occur at once. Returns whether the
        links, or the core above them, may want more as a result.
        """

    def wait(self, links: Driven, timeout_ms: int | None) -> bool:
        """Wait for events and report them, or until the time is up; None waits for ever.

        Returns False if the events changed nothing: then wait for the rest of the time.
        """

    def close(self) -> None: ...


def perform_all(links: Driven, do: Callable[[Effect], bool]) -> bool:
    """Also carry out effects that follow from these. Returns what perform() does, as `do` does."""
    may_want_more = False
    while effects := links.take_effects():
        for effect in effects:
            may_want_more |= do(effect)
    return may_want_more


class Phase(Enum):
    CONNECTING = "connecting"
    SHAKING_HANDS = "shaking hands"
    OPEN = "open"


@dataclass(slots=True, eq=False)
class _End:
    """Our end of a link."""

    link: int
    host: str
    socket: socket.socket
    transport: Transport
    phase: Phase = Phase.CONNECTING
    interest: int = _WRITE
    unsent: deque[memoryview] = field(default_factory=deque)

    def has_left(self, sent_bytes: int) -> None:
        """``sent_bytes`` of the unsent parts have left."""
        unsent = self.unsent
        while unsent and len(unsent[0]) <= sent_bytes:
            sent_bytes -= len(unsent.popleft())
        if sent_bytes:
            unsent[0] = unsent[0][sent_bytes:]


class SelectorSockets:
    """The ``waker`` belongs to the caller; it ends a wait, and is then reset.

    ``names``, with the same waker, look up hosts; by default ``aside``, which obtains tokens, does.

    The ``selector`` is closed with the sockets.
    """

    def __init__(
        self,
        clock: Clock,
        way_in: WayIn = PLAIN,
        *,
        waker: Waker | None = None,
        selector: selectors.BaseSelector | None = None,
        aside: Aside = in_place,
        names: OnThreads | None = None,
    ) -> None:
        self._clock = clock
        self._way_in = way_in
        self._aside = aside
        self._names = names
        # By default one without its own descriptor, which could leak.
        self._selector = selector or selectors.PollSelector()
        if waker is not None:
            self._selector.register(waker, _READ, waker)
        self._ends: dict[int, _End] = {}
        self._looked_up: dict[str, set[int]] = {}  # hosts, and the links that wait for each

    def perform(self, links: Driven) -> bool:
        return perform_all(links, partial(self._do, links))

    def wait(self, links: Driven, timeout_ms: int | None) -> bool:
        timeout_s = None if timeout_ms is None else min(timeout_ms, _LONGEST_WAIT_MS) / 1000
        happened = self._selector.select(timeout_s)
        comes_to_something = not happened  # the time is up
        for key, events in happened:
            if isinstance(key.data, Waker):
                key.data.forget()
                if self._names is not None:
                    self._names.tell()
                comes_to_something = True
            else:
                comes_to_something |= self._on_event(links, cast(_End, key.data), events)
        return comes_to_something

    def close(self) -> None:
        if self._names is not None:
            self._names.close()
        for link in list(self._ends):
            self._close(link)
        self._selector.close()

    def _do(self, links: Driven, effect: Effect) -> bool:
        if isinstance(effect, Write):
            return self._write(links, effect)
        if isinstance(effect, Connect):
            self._connect(links, effect)
        elif isinstance(effect, Resolve):
            self._resolve(links, effect)
        elif isinstance(effect, LogIn):
            self._log_in(links, effect)
        elif isinstance(effect, Close):
            self._close(effect.link)
        return True

    # Connecting

    def _resolve(self, links: Driven, wanted: Resolve) -> None:
        """A host once at a time. Its look-up may take longer than a connection may: if each attempt
        began another one, no attempt would ever have an answer, and they would pile up.
        """
        host = wanted.host
        if host in self._looked_up:
            self._looked_up[host].add(wanted.link)
            return
        self._looked_up[host] = {wanted.link}
        of_names = self._names or self._aside
        aside = in_place if is_address(host) else of_names
        try:
            aside(partial(addresses_of, host), partial(self._on_looked_up, links, host))
        except BaseException:  # Ctrl-C, say, where it is done in place: nobody will be told
            self._looked_up.pop(host, None)
            raise

    def _on_looked_up(self, links: Driven, host: str, told: list[str] | Exception) -> None:
        for link in self._looked_up.pop(host):
            if isinstance(told, Exception):
                self._lost(links, link, told)
            else:
                links.resolved(link, told, self._clock.now_ms())

    def _connect(self, links: Driven, wanted: Connect) -> None:
        try:
            self._begin_to_connect(wanted)
        except (OSError, OverflowError) as error:  # metadata may contain any port
            self._lost(links, wanted.link, error)

    def _begin_to_connect(self, wanted: Connect) -> None:
        family = socket.AF_INET6 if ":" in wanted.address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        end = self._ends[wanted.link] = _End(wanted.link, wanted.host, sock, Plain(sock))
        self._selector.register(sock, _WRITE, end)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(BlockingIOError):
            sock.connect(place_of(wanted.address, wanted.port))

    def _on_connected(self, links: Driven, end: _End) -> None:
        code = end.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if not code and _meets_itself(end.socket):
            code = errno.ECONNREFUSED
        if code:
            links.lost(end.link, os.strerror(code), self._clock.now_ms())
            return
        end.phase = Phase.SHAKING_HANDS
        try:
            self._speak_tls(end)
        except (OSError, ValueError) as error:  # a broker's host may be an invalid name
            self._failed(links, end, error)
        else:
            self._shake_hands(links, end)

    def _speak_tls(self, end: _End) -> None:
        """Begin TLS, if it is used. Raises OSError, and ValueError for an invalid host name."""
        if self._way_in.tls is not None:
            self._selector.unregister(end.socket)  # the wrapping socket takes over the descriptor
            end.transport = Tls(end.socket, self._way_in.tls, end.host)
            self._selector.register(end.transport, end.interest, end)

    def _shake_hands(self, links: Driven, end: _End) -> None:
        try:
            wants = end.transport.shake_hands()
        except (HandshakeError, OSError) as error:
            self._failed(links, end, error)
            return
        if wants is not Shaken.DONE:
            self._watch(end, _INTEREST_OF[wants])
            return
        end.phase = Phase.OPEN
        self._watch(end, _READ)
        links.connected(end.link, self._clock.now_ms())

    # On a connection

    def _log_in(self, links: Driven, wanted: LogIn) -> None:
        def began(told: bytes | Exception) -> None:
            links.login_began(wanted.link, told, self._clock.now_ms())

        self._aside(wanted.first_frame, began)

    def _on_event(self, links: Driven, end: _End, events: int) -> bool:
        """Returns what wait() does. An exception from a receiver of the event does not end the
        connection: it is a bug, and ends the client.
        """
        if end.phase is Phase.OPEN:
            comes_to_something = bool(events & _READ) and self._receive(links, end)
            if events == _READ:
                return comes_to_something
            if events & _WRITE:
                self._flush(links, end)
        elif end.phase is Phase.CONNECTING:
            self._on_connected(links, end)
        else:
            self._shake_hands(links, end)
        return True

    def _receive(self, links: Driven, end: _End) -> bool:
        """Read until no more is available. Returns whether that changed anything."""
        comes_to_something = False
        while room := links.room(end.link):
            try:
                count = end.transport.recv_into(room)
            except BlockingIOError:
                return comes_to_something
            except (HandshakeError, OSError) as error:
                self._failed(links, end, error)
                return True
            comes_to_something |= links.received(end.link, count, self._clock.now_ms())
            if count < len(room) and not end.transport.has_more:
                return comes_to_something
        return True  # the link is over

    def _write(self, links: Driven, wanted: Write) -> bool:
        end = self._ends.get(wanted.link)
        if end is None:
            return False
        end.unsent += map(memoryview, cast(list[bytes], wanted.parts))
        return self._flush(links, end)

    def _flush(self, links: Driven, end: _End) -> bool:
        try:
            while end.unsent:
                end.has_left(end.transport.send(list(islice(end.unsent, _PARTS_AT_ONCE))))
        except BlockingIOError:
            self._watch(end, _READ | _WRITE)
            return False
        except OSError as error:
            self._lost(links, end.link, error)
            return True
        self._watch(end, _READ)
        return links.written(end.link)

    def _watch(self, end: _End, interest: int) -> None:
        if interest != end.interest:
            end.interest = interest
            self._selector.modify(end.transport, interest, end)

    def _failed(self, links: Driven, end: _End, error: Exception) -> None:
        if isinstance(error, HandshakeError):
            links.turned_away(end.link, str(error), self._clock.now_ms())
        else:
            self._lost(links, end.link, error)

    def _lost(self, links: Driven, link: int, error: Exception) -> None:
        why = str(error.strerror or error) if isinstance(error, OSError) else str(error)
        links.lost(link, why, self._clock.now_ms())

    def _close(self, link: int) -> None:
        for waiting in self._looked_up.values():
            waiting.discard(link)
        end = self._ends.pop(link, None)
        if end is not None:
            with contextlib.suppress(KeyError, ValueError):  # registering it may have failed
                self._selector.unregister(end.transport)
            end.transport.close()


def _meets_itself(connected: socket.socket) -> bool:
    """If nobody listens, the system may give our end the very port that we connect to."""
    try:
        return bool(connected.getsockname() == connected.getpeername())
    except OSError:
        return False  # it was reset meanwhile; the next use will show that
