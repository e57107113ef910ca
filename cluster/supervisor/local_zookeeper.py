"""The ZooKeeper that the supervisor starts when it is given none: one server, or an ensemble."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

from logquake.cluster.links.plan import Link
from logquake.cluster.processes.ports import LOOPBACK, hold_port_for_java, port_of
from logquake.cluster.supervisor.archive_making import ArchiveMaking
from logquake.cluster.supervisor.ensemble_links import EnsembleLinks, told_name
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

    def become_peer(self, number: int, host: str) -> Peer:
        """Have ports for the other servers of an ensemble too, who are told of them at ``host``."""
        quorum, election = self._held_for_peers = [hold_port_for_java() for _ in range(2)]
        return Peer(number, host, port_of(quorum), port_of(election))

    def join(self, membership: Membership) -> None:
        """Be one of an ensemble, from the first start on."""
        self._membership = membership

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
    """A server in each directory, by its name; several are an ensemble, ``links`` between them.

    Raises ClusterError from its making: no Java, no jars.
    """

    def __init__(self, directories: Mapping[str, Path], *, links: bool = False) -> None:
        program = find_program()
        self.servers = {name: LocalServer(program, path) for name, path in directories.items()}
        self.archive_making = ArchiveMaking(
            program,
            archive_path(program),
            next(iter(directories.values())) / "class-archive.log",
        )
        self._between: EnsembleLinks | None = None
        if len(self.servers) > 1:
            self._bring_together(links=links)

    @property
    def connect(self) -> str:
        """As zookeeper.connect."""
        return ",".join(f"{LOOPBACK}:{server.port}" for server in self.servers.values())

    @property
    def links(self) -> tuple[Link, ...]:
        """Between its servers; until they are laid, none finds another."""
        return () if self._between is None else self._between.links

    def wait_until_serving(self) -> None:
        """Raises ClusterError if one ends instead."""
        for server in self.servers.values():
            server.wait_until_serving()

    def _bring_together(self, *, links: bool) -> None:
        peers = {
            name: server.become_peer(number, told_name(number) if links else LOOPBACK)
            for number, (name, server) in enumerate(self.servers.items(), start=1)
        }
        between = self._between = EnsembleLinks(peers) if links else None
        for name, peer in peers.items():
            hosts = None if between is None else between.hosts_of(peer.number)
            self.servers[name].join(Membership(peer.number, tuple(peers.values()), hosts))
