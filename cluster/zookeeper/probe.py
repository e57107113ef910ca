"""Asking a ZooKeeper server how it is, with its four-letter words."""

from __future__ import annotations

import socket

from logquake.cluster.errors import ClusterError

DEFAULT_PORT = 2181
FOREIGN_TIMEOUT_S = 3.0
PROBE_INTERVAL_S = 0.004
PROBE_TIMEOUT_S = 0.1  # a server that has only begun to listen may never answer this connection


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
    return "Mode:" in ask(host, port, "srvr", timeout_s)


def serves_from(host: str, port: int, data_directory: str) -> bool:
    """Whether the server at that port serves, and is the one that keeps its data there."""
    return serves(host, port) and f"dataDir={data_directory}/" in ask(host, port, "conf")


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
