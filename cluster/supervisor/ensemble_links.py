"""Links between the servers of an ensemble, who find each other by name.

A server tells the others where it listens for elections, and they dial what they are told
(QuorumCnxManager.InitialMessage): an address would lead them past their proxies. So it is a name:
each JVM reads a hosts file of its own, in which a peer's name has the address of this server's
proxy to it. 127.1.1.3 is what server 1 knows as server 3; ports are told too, and so the same for
all.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from itertools import permutations

from logquake.cluster.links.plan import Link
from logquake.cluster.processes.hosts_file import hosts_text
from logquake.cluster.processes.ports import LOOPBACK, hold_port
from logquake.cluster.zookeeper.program import Peer


def told_name(number: int) -> str:
    """Of the server with that number, the host that all of them are told."""
    return f"zookeeper-{number}.logquake.internal"


class EnsembleLinks:
    """``peers`` are told by their names. Raises ClusterError: an address is taken."""

    def __init__(self, peers: Mapping[str, Peer]) -> None:
        self._peers = peers
        self._held: list[socket.socket] = []
        self.links = tuple(self._all())

    def hosts_of(self, number: int) -> str:
        """What that server's JVM knows of names; itself it finds without a proxy."""
        return hosts_text(
            {
                told_name(peer.number): _known_as(number, peer.number)
                if peer.number != number
                else LOOPBACK
                for peer in self._peers.values()
            }
        )

    def close(self) -> None:
        """Give the ports up."""
        for held in self._held:
            held.close()

    def _all(self) -> Iterator[Link]:
        for (dialler, one), (dialled, other) in permutations(self._peers.items(), 2):
            host = _known_as(one.number, other.number)
            for port in (other.quorum_port, other.election_port):
                self._held.append(hold_port(port, host))
                yield Link(dialler, dialled, (host, port), (LOOPBACK, port), carries_requests=False)


def _known_as(dialler: int, dialled: int) -> str:
    return f"127.1.{dialler}.{dialled}"
