"""The listening socket: a port that nobody else has, or that the launcher holds for us.

The launcher keeps a bound socket that does not listen, with SO_REUSEPORT, so that a dead broker's
port stays its own; the broker then binds the same port with the same option. Elsewhere the port
is bound without that option, so that a second broker on it is refused by the system.

Binding and listening are two steps: a broker takes its port before it starts up, and clients are
refused, rather than left waiting, until it serves.
"""

from __future__ import annotations

import errno
import socket
from typing import Any

from logquake.node.net.limits import USE_DEFAULT_BUFFER_SIZE

_PROBE_TIMEOUT_S = 1.0


class ListenError(Exception):
    """The address cannot be listened on; the text is one line for whoever starts a broker."""


def bind_listener(
    host: str, port: int, *, receive_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE
) -> socket.socket:
    """A bound, non-blocking socket. An empty host means every interface, port 0 any port.

    Raises ListenError when the port is taken or the host is not this machine's.
    """
    try:
        family, address = _resolve(host, port)
        sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    except OSError as error:
        raise _refusal(host, port, error) from error
    try:
        if receive_buffer_bytes > 0:  # before listen(): it decides the TCP window scale
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        _bind(sock, address)
    except OSError as error:
        sock.close()
        raise _refusal(host, port, error) from error
    return sock


def start_listening(
    sock: socket.socket, backlog: int, *, send_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE
) -> None:
    """Raises ListenError when another socket on the port began to listen since it was bound.

    What is set here every connection has from the start, without a call of its own.
    """
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if send_buffer_bytes > 0:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
    try:
        sock.listen(backlog)
    except OSError as error:
        host, port = sock.getsockname()[:2]
        raise _refusal(host, port, error) from error


def _refusal(host: str, port: int, error: OSError) -> ListenError:
    return ListenError(f"cannot listen on {host}:{port}: {error.strerror}")


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    found = socket.getaddrinfo(
        host or "0.0.0.0", port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    family, _, _, _, address = found[0]
    return family, address


def _bind(sock: socket.socket, address: tuple[Any, ...]) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(address)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        _bind_held_port(sock, address)


def _bind_held_port(sock: socket.socket, address: tuple[Any, ...]) -> None:
    """Bind beside a socket that only holds the port.

    SO_REUSEPORT would also let two brokers listen and split the clients between them at random,
    hence the probe.
    """
    with socket.socket(sock.family, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_TIMEOUT_S)
        if probe.connect_ex(address) != errno.ECONNREFUSED:
            raise OSError(errno.EADDRINUSE, "the port is taken by another process")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(address)
