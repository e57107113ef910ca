"""A TCP connection that carries nothing: logquake.seams.network.Tether.

The system at the other end closes it in the moment in which the process there ends, however it
ends, and refuses the next one; a process that is frozen keeps it, and its system accepts more.

Caveat: whoever vanishes with its network (a power cut, a cable) closes nothing. That is left to
the ZooKeeper session.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from logquake.node.net.links.connector import Connector, ConnectSettings
from logquake.node.net.loop import EPOLLIN, EventLoop
from logquake.seams.network import Disconnected

_IGNORED_BYTES = 4096  # nobody has reason to send anything


class TcpTether:
    """Connects at once. Neither held() nor ended() is called before the constructor returned."""

    def __init__(
        self,
        loop: EventLoop,
        address: tuple[str, int],
        settings: ConnectSettings,
        *,
        held: Callable[[], None],
        ended: Callable[[Disconnected], None],
    ) -> None:
        self._loop = loop
        self._held = held
        self._ended = ended
        self._socket: socket.socket | None = None
        self._connector = Connector(
            loop, address, settings, delay_ms=0, connected=self._on_connected, failed=ended
        )

    def close(self) -> None:
        self._connector.cancel()
        if self._socket is not None:
            self._drop(self._socket)

    def _on_connected(self, sock: socket.socket) -> None:
        self._socket = sock
        self._loop.watch(sock.fileno(), EPOLLIN, lambda _events: self._on_readable(sock))
        self._held()

    def _on_readable(self, sock: socket.socket) -> None:
        try:
            if sock.recv(_IGNORED_BYTES):
                return
            reason = "closed by the broker"
        except BlockingIOError:
            return
        except OSError as error:
            reason = str(error)
        self._drop(sock)
        self._ended(Disconnected(reason))

    def _drop(self, sock: socket.socket) -> None:
        self._socket = None
        self._loop.unwatch(sock.fileno())
        sock.close()
