"""The ZooKeeper server that the supervisor starts when it is given none."""

from __future__ import annotations

import subprocess
from pathlib import Path

from logquake.cluster.processes.ports import LOOPBACK, hold_port_for_java, port_of
from logquake.cluster.supervisor.archive_making import ArchiveMaking
from logquake.cluster.zookeeper.class_archive import archive_flags, archive_path
from logquake.cluster.zookeeper.program import find_program
from logquake.cluster.zookeeper.server import spawn_server, wait_until_serving


class LocalZooKeeper:
    """Raises ClusterError from its making: no Java, no jars."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._program = find_program()
        self._archive = archive_path(self._program)
        self.archive_making = ArchiveMaking(
            self._program, self._archive, directory / "class-archive.log"
        )
        self._held_port = hold_port_for_java()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        return port_of(self._held_port)

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the server, the first time or again: port and data stay the same."""
        self._process = spawn_server(
            self._program, self._directory, LOOPBACK, self.port, *archive_flags(self._archive)
        )
        return self._process

    def wait_until_serving(self) -> None:
        """Raises ClusterError if it ends instead."""
        if self._process:
            wait_until_serving(self._process, self._directory, LOOPBACK, self.port)
