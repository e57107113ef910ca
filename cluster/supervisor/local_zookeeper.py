"""The ZooKeeper that the supervisor starts when it is given none: one server, or an ensemble."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from logquake.cluster.processes.ports import LOOPBACK, hold_port_for_java, port_of
from logquake.cluster.supervisor.archive_making import ArchiveMaking
from logquake.cluster.zookeeper.class_archive import archive_flags, archive_path
from logquake.cluster.zookeeper.program import Peer, Program, find_program
from logquake.cluster.zookeeper.server import Membership, spawn_server, wait_until_serving


class LocalServer:
    """One server. Its ports and its data stay the same from one start to the next."""

    def __init__(self, program: Program, directory: Path) -> None:
        self._program = program
        self._directory = directory
        self._held_port = hold_port_for_java()
        self._held_for_peers: list[socket.socket] = []
        self._membership: Membership | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        return port_of(self._held_port)

    def become_peer(self, number: int) -> Peer:
        """Have ports for the other servers of an ensemble too."""
        quorum, election = self._held_for_peers = [hold_port_for_java() for _ in range(2)]
        return Peer(number, LOOPBACK, port_of(quorum), port_of(election))

    def join(self, number: int, peers: Sequence[Peer]) -> None:
        """Be one of an ensemble, from the first start on."""
        self._membership = Membership(number, peers)

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start it, the first time or again."""
        flags = archive_flags(archive_path(self._program))
        self._process = spawn_server(
            self._program,
            self._directory,
            LOOPBACK,
            self.port,
            *flags,
            membership=self._membership,
        )
        return self._process

    def wait_until_serving(self) -> None:
        """Raises ClusterError if it ends instead."""
        if self._process:
            wait_until_serving(self._process, self._directory, LOOPBACK, self.port)


class LocalZooKeeper:
    """A server in each directory, by its name; several are an ensemble.

    Raises ClusterError from its making: no Java, no jars.
    """

    def __init__(self, directories: Mapping[str, Path]) -> None:
        program = find_program()
        self.servers = {name: LocalServer(program, path) for name, path in directories.items()}
        self.archive_making = ArchiveMaking(
            program,
            archive_path(program),
            next(iter(directories.values())) / "class-archive.log",
        )
        if len(self.servers) > 1:
            _bring_together(list(self.servers.values()))

    @property
    def connect(self) -> str:
        """As zookeeper.connect."""
        return ",".join(f"{LOOPBACK}:{server.port}" for server in self.servers.values())

    def wait_until_serving(self) -> None:
        """Raises ClusterError if one ends instead."""
        for server in self.servers.values():
            server.wait_until_serving()


def _bring_together(servers: Sequence[LocalServer]) -> None:
    peers = [server.become_peer(number) for number, server in enumerate(servers, start=1)]
    for peer, server in zip(peers, servers, strict=True):
        server.join(peer.number, peers)
