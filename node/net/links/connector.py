"""Opening a TCP connection without blocking the loop."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from logquake.node.net.limits import USE_DEFAULT_BUFFER_SIZE
from logquake.node.net.loop import EPOLLOUT, EventLoop
from logquake.seams.network import Disconnected

Address = tuple[str, int]

_Resolved = tuple[socket.AddressFamily, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class ConnectSettings:
    """How connections to other brokers are made."""

    # The address to connect from, "" for the system's choice. With a broker's own loopback
    # address here, the link between two brokers is a pair of addresses that a fault can name.
    source_host: str = ""
    # Where to dial instead, by the address that a broker tells of itself: whoever puts something
    # between two brokers (a proxy that can be broken, a port that is forwarded) says so here.
    routes: Mapping[Address, Address] = field(default_factory=dict)
    # SO_SNDBUF and SO_RCVBUF.
    send_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE
    receive_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE


class Connector:
    """One attempt to connect; ends with connected(socket) or failed(why), or with cancel().

    Neither is called before the constructor returned.
    """

    def __init__(
        self,
        loop: EventLoop,
        address: Address,
        settings: ConnectSettings,
        *,
        delay_ms: float,
        connected: Callable[[socket.socket], None],
        failed: Callable[[Disconnected], None],
    ) -> None:
        self._loop = loop
        self._address = address
        self._settings = settings
        self._connected = connected
        self._failed = failed
        self._socket: socket.socket | None = None
        self._cancelled = False
        self._timer = loop.call_later(delay_ms, self._resolve)

    def cancel(self) -> None:
        """Give up; neither callback will be called. Nothing happens once one of them was."""
        self._cancelled = True
        self._timer.cancel()
        if self._socket is not None:
            self._take_socket().close()
        self._forget()

    def _resolve(self) -> None:
        host, port = self._settings.routes.get(self._address, self._address)
        if host.replace(".", "").isdigit():  # an IPv4 address: nothing to look up
            self._connect(socket.AF_INET, (host, port))
        else:
            self._loop.run_in_worker(lambda: _look_up(host, port), self._on_resolved)

    def _on_resolved(self, resolved: Future[_Resolved]) -> None:
        if self._cancelled:
            return
        try:
            family, address = resolved.result()
        except OSError as error:
            self._fail(str(error.strerror))  # a look-up's errno is of another kind
        else:
            self._connect(family, address)

    def _connect(self, family: socket.AddressFamily, address: tuple[Any, ...]) -> None:
        sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            self._prepare(sock)
            sock.connect(address)
        except BlockingIOError:
            pass
        except OSError as error:
            sock.close()
            self._fail(str(error.strerror), error.errno)
            return
        self._socket = sock
        self._loop.watch(sock.fileno(), EPOLLOUT, self._on_writable)

    def _prepare(self, sock: socket.socket) -> None:
        settings = self._settings
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if settings.send_buffer_bytes > 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, settings.send_buffer_bytes)
        if settings.receive_buffer_bytes > 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, settings.receive_buffer_bytes)
        if settings.source_host:
            sock.setsockopt(socket.SOL_IP, socket.IP_BIND_ADDRESS_NO_PORT, 1)
            sock.bind((settings.source_host, 0))

    def _on_writable(self, _events: int) -> None:
        sock = self._take_socket()
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if not code and meets_itself(sock):
            code = errno.ECONNREFUSED
        if code:
            sock.close()
            self._fail(os.strerror(code), code)
        else:
            connected = self._connected
            self._forget()
            connected(sock)

    def _take_socket(self) -> socket.socket:
        sock, self._socket = self._socket, None
        if sock is None:
            raise RuntimeError("no connection is being made")
        self._loop.unwatch(sock.fileno())
        return sock

    def _fail(self, reason: str, code: int | None = None) -> None:
        host, port = self._address
        why = f"cannot connect to {host}:{port}: {reason}"
        failed = self._failed
        self._forget()
        failed(Disconnected(why, refused=code == errno.ECONNREFUSED))

    def _forget(self) -> None:
        """They know this attempt, and a cycle would not go by reference count."""
        self._connected = self._failed = _nobody


def _nobody(_: socket.socket | Disconnected) -> None:
    """The attempt has ended."""


def meets_itself(sock: socket.socket) -> bool:
    """Whether the system gave the connection the port that it goes to, so that both ends are one.

    Linux allows that where nobody listens on a port of the range that it chooses from. A connection
    that was reset since it was made has no peer any more; whoever uses it will hear of that.
    """
    try:
        return bool(sock.getsockname() == sock.getpeername())
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise
        return False


def _look_up(host: str, port: int) -> _Resolved:
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return family, address
