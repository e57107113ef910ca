"""The command line that runs ZooKeeper, one server or one of an ensemble.

Five of PySpark's 250 jars are enough, and without a backend for slf4j the server is up in 0.3 s
instead of 0.5 s; the price is that it logs nothing but what the JVM itself prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from logquake.cluster.errors import ClusterError
from logquake.cluster.processes.java import QUICK_START, Java, find_java

LONE_SERVER = "org.apache.zookeeper.server.ZooKeeperServerMain"
OF_AN_ENSEMBLE = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
NEEDED_JARS = (
    "zookeeper-[0-9]*.jar",
    "zookeeper-jute-*.jar",
    "slf4j-api-*.jar",
    "metrics-core-*.jar",
    "snappy-java-*.jar",
)
JVM_FLAGS = ("-Xmx64m", *QUICK_START)
# forceSync=no: the write-ahead log outlives a killed server in the page cache; only a power cut of
# the machine could lose writes. preAllocSize in KiB: 64 MiB a log is too much for a temporary one.
SERVER_FLAGS = ("-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=1024")

TICK_TIME_MS = 500  # sessions may then be as short as 1 s (two ticks)
MAX_SESSION_TIMEOUT_MS = 60_000
# How long a follower may take to find its leader and copy what it lacks, and how long either of the
# two may be silent before the other looks for a quorum anew: below a session's time of 8 s, and
# above what a machine that starves its processes makes of a heartbeat.
INIT_LIMIT_TICKS = 40
SYNC_LIMIT_TICKS = 8


@dataclass(frozen=True, slots=True)
class Peer:
    """A server of an ensemble, as all its servers know it. ``number`` is its myid."""

    number: int
    host: str
    quorum_port: int
    election_port: int

    def __str__(self) -> str:
        return f"server.{self.number}={self.host}:{self.quorum_port}:{self.election_port}"


@dataclass(frozen=True, slots=True)
class Program:
    """What is run: a Java and ZooKeeper's class path."""

    java: Java
    jars: tuple[Path, ...]

    @property
    def class_path(self) -> str:
        return ":".join(map(str, self.jars))

    def jvm(self, *flags: str) -> list[str]:
        """A JVM over ZooKeeper's classes, to which what is run is still to be added."""
        return [str(self.java.executable), *JVM_FLAGS, *flags, "-cp", self.class_path]

    def serve(self, config: Path, *flags: str, main_class: str = LONE_SERVER) -> list[str]:
        return [*self.jvm(*SERVER_FLAGS, *flags), main_class, str(config)]


def find_program() -> Program:
    """Raises ClusterError, which says what to install."""
    return Program(find_java(), find_jars())


def find_jars() -> tuple[Path, ...]:
    """ZooKeeper's jars in PySpark's wheel, without importing PySpark. Raises ClusterError."""
    package = find_spec("pyspark")
    places = package.submodule_search_locations if package else None
    folder = Path(places[0], "jars") if places else None
    found = [sorted(folder.glob(pattern)) for pattern in NEEDED_JARS] if folder else []
    if not found or not all(found):
        raise ClusterError(
            "no ZooKeeper server: pip install 'logquake[spark]' brings one, "
            "or use one that runs: --zookeeper HOST:PORT"
        )
    return tuple(matches[-1] for matches in found)


def write_config(
    path: Path, data_directory: Path, host: str, port: int, peers: Sequence[Peer] = ()
) -> None:
    """Write zoo.cfg. ``conf`` is answered so that a server can be told from a stranger's."""
    path.write_text(
        f"tickTime={TICK_TIME_MS}\n"
        f"maxSessionTimeout={MAX_SESSION_TIMEOUT_MS}\n"
        f"dataDir={data_directory}\n"
        f"clientPort={port}\n"
        f"clientPortAddress={host}\n"
        "maxClientCnxns=0\n"
        "admin.enableServer=false\n"
        "4lw.commands.whitelist=srvr,conf\n" + (_ensemble(peers) if peers else "")
    )


def _ensemble(peers: Sequence[Peer]) -> str:
    limits = f"initLimit={INIT_LIMIT_TICKS}\nsyncLimit={SYNC_LIMIT_TICKS}\n"
    return limits + "".join(f"{peer}\n" for peer in peers)
