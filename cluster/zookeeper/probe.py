"""Asking a ZooKeeper server how it is, with its four-letter words."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from logquake.cluster.errors import ClusterError

DEFAULT_PORT = 2181
FOREIGN_TIMEOUT_S = 3.0
PROBE_INTERVAL_S = 0.004
# A server that has only begun to listen may never answer this connection; on a slow machine one
# that serves takes longer than this, hence Patience.
PROBE_TIMEOUT_S = 0.1
LONGEST_PROBE_S = 5.0


def ask(host: str, port: int, word: str, timeout_s: float = PROBE_TIMEOUT_S) -> str:
    """The whole answer to a four-letter word, "" while nobody answers."""
    answer = bytearray()
    try:
        with socket.create_connection((host, port), timeout=timeout_s) as connection:
            connection.sendall(word.encode())
            while piece := connection.recv(4096):
                answer += piece
    except OSError:
        return ""
    return answer.decode(errors="replace")


def serves(host: str, port: int, timeout_s: float = PROBE_TIMEOUT_S) -> bool:
    """Whether it serves clients.

    It accepts connections, and answers ``ruok``, 100 to 180 ms before that; a client that
    connects then can lose seconds. ``Mode:`` comes only from a server that serves.
    """
    return mode_of(host, port, timeout_s) != ""


def mode_of(host: str, port: int, timeout_s: float = PROBE_TIMEOUT_S) -> str:
    """``leader``, ``follower``, ``standalone``; "" of a server that serves nobody."""
    _, _, mode = ask(host, port, "srvr", timeout_s).partition("Mode: ")
    return mode.partition("\n")[0].strip()


def serves_from(
    host: str, port: int, data_directory: str, timeout_s: float = PROBE_TIMEOUT_S
) -> bool:
    """Whether the server at that port serves, and is the one that keeps its data there."""
    return serves(host, port, timeout_s) and f"dataDir={data_directory}/" in ask(
        host, port, "conf", timeout_s
    )


class Patience:
    """How long the next probe may take: twice as long after one that got no answer in its time."""

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._timeout_s = PROBE_TIMEOUT_S

    def probe(self, holds: Callable[[float], bool]) -> bool:
        """Whether it holds; ``holds`` is given the time that it may take."""
        began_s = self._monotonic_s()
        if holds(self._timeout_s):
            return True
        if self._monotonic_s() - began_s >= self._timeout_s:  # not just refused
            self._timeout_s = min(2 * self._timeout_s, LONGEST_PROBE_S)
        return False


def require_serving(connect: str) -> None:
    """Raises ClusterError unless a server of ``host:port[,host:port...][/chroot]`` serves."""
    hosts, _, _ = connect.partition("/")
    for host in hosts.split(","):
        name, _, port = host.strip().partition(":")
        number = int(port) if port.isdecimal() else DEFAULT_PORT
        if serves(name, number, FOREIGN_TIMEOUT_S):
            return
    raise ClusterError(
        f"no ZooKeeper serves at {hosts}: start it, or leave --zookeeper out to have one started"
    )
