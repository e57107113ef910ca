"""An address that is dialled, and what whoever dials it meets: see Manner.

A connection that gets no answer is made of a queue that is full: the system then drops what comes
to the address, as a firewall would, and the dialler's system tries again after 1, 2, 4, ... s.

Caveat: so a new connection may be made seconds after a cut was healed, as it is in a network.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from enum import Enum, auto

from logquake.cluster.links.plan import Address
from logquake.node.net.listener import bind_listener
from logquake.node.net.loop import EPOLLIN, EventLoop

_BACKLOG = 128  # nobody waits in it for longer than a pass of the loop


class Manner(Enum):
    """What a door does with whoever comes."""

    OPEN = auto()
    REFUSING = auto()
    SILENT = auto()


class Door:
    """Begins as refusing. ``entered`` gets each connection; ListenError if another has the port."""

    def __init__(
        self, loop: EventLoop, address: Address, entered: Callable[[socket.socket], None]
    ) -> None:
        self._loop = loop
        self._address = address
        self._entered = entered
        self._manner = Manner.REFUSING
        self._listener: socket.socket | None = None
        self._filler: socket.socket | None = None  # takes the one place in the queue

    def set(self, manner: Manner) -> None:
        if manner is self._manner:
            return
        if self._manner is Manner.OPEN and self._listener is not None:
            self._accept(self._listener)  # who was there before the change
            self._loop.unwatch(self._listener.fileno())
        self._manner = manner
        if manner is Manner.REFUSING:
            self._shut()
        elif manner is Manner.SILENT:
            self._fall_silent(self._listener or self._bind())
        else:
            self._open(self._listener or self._bind())

    def close(self) -> None:
        self.set(Manner.REFUSING)

    def _bind(self) -> socket.socket:
        self._listener = bind_listener(*self._address)
        return self._listener

    def _open(self, listener: socket.socket) -> None:
        listener.listen(_BACKLOG)
        filler = self._drop_filler()
        self._accept(listener, unwanted=filler)
        self._loop.watch(listener.fileno(), EPOLLIN, lambda _events: self._accept(listener))

    def _fall_silent(self, listener: socket.socket) -> None:
        listener.listen(0)
        self._filler = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self._filler.connect_ex(self._address)

    def _shut(self) -> None:
        self._drop_filler()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _drop_filler(self) -> Address | None:
        """Its address, by which to know it in the queue."""
        filler, self._filler = self._filler, None
        if filler is None:
            return None
        address: Address = filler.getsockname()
        filler.close()
        return address

    def _accept(self, listener: socket.socket, unwanted: Address | None = None) -> None:
        while True:
            try:
                sock, address = listener.accept()
            except OSError:  # nobody is left, or has gone again
                return
            if address == unwanted:
                sock.close()
                continue
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._entered(sock)
