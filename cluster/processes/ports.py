"""Ports that are ours from the moment they are picked until the cluster is gone.

"Find a free port, close it, bind it later" loses the port now and then to another process. Here a
socket stays bound to it and never listens. While the broker is dead a connection is refused, and
nobody else can take the port; a restarted broker gets it back.

Caveat: only Linux lets a second socket of the same user listen on a port that is held so.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterable

from logquake.cluster.errors import ClusterError

LOOPBACK = "127.0.0.1"


def hold_port(port: int | None, host: str = LOOPBACK) -> socket.socket:
    """Bind the port, or any free one, for a server that binds it with SO_REUSEPORT and listens.

    The first bind is exclusive, so that a listener, or another cluster that holds the port, is
    noticed; only then is the port shared. SO_REUSEADDR goes again: with it on both sides, another
    cluster's exclusive bind would succeed as long as nobody listens. Raises ClusterError.
    """
    held = _bind(port, host)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return held


def hold_port_for_java(host: str = LOOPBACK, port: int | None = None) -> socket.socket:
    """Bind the port, or any free one, for a server that binds it with SO_REUSEADDR alone, as Java.

    Raises ClusterError.
    """
    return _bind(port, host)


def hold_ports(
    ports: Iterable[int | None], hold: Callable[[int | None], socket.socket] = hold_port
) -> list[socket.socket]:
    """Hold them all, any one for None. Raises ClusterError, and then none is held."""
    held: list[socket.socket] = []
    try:
        for port in ports:
            held.append(hold(port))
    except ClusterError:
        for one in held:
            one.close()
        raise
    return held


def port_of(held: socket.socket) -> int:
    port: int = held.getsockname()[1]
    return port


def _bind(port: int | None, host: str) -> socket.socket:
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # Connections of an earlier run that linger in TIME_WAIT are no reason to refuse.
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        held.bind((host, port or 0))
    except OSError as error:
        held.close()
        raise ClusterError(_refusal(port, host, error)) from error
    return held


def _refusal(port: int | None, host: str, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken: choose another with --port, or let --any-port choose"
    return f"cannot bind {host}:{port or 0} ({error.strerror}): choose another --port"
