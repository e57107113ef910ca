"""One ZooKeeper server process."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import last_line
from logquake.cluster.processes.hosts_file import hosts_flag
from logquake.cluster.processes.lifeline import die_with
from logquake.cluster.zookeeper.probe import PROBE_INTERVAL_S, Patience, serves_from
from logquake.cluster.zookeeper.program import (
    LONE_SERVER,
    OF_AN_ENSEMBLE,
    Peer,
    Program,
    write_config,
)

LOG_NAME = "zookeeper.log"
START_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Membership:
    """Which server of an ensemble one is, of all that there are.

    ``hosts`` is what it knows of their names, where they are told by names.
    """

    number: int
    peers: Sequence[Peer]
    hosts: str | None = None


def spawn_server(
    program: Program,
    directory: Path,
    host: str,
    port: int,
    *flags: str,
    membership: Membership | None = None,
) -> subprocess.Popen[bytes]:
    """Start a server that keeps its data in ``directory``; it serves a little later.

    One of an ensemble does once a majority of its servers has found together.
    """
    data_directory = directory / "data"
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    data_directory.mkdir(exist_ok=True)
    config = directory / "zoo.cfg"
    write_config(config, data_directory, host, port, membership.peers if membership else ())
    main_class = LONE_SERVER
    if membership is not None:
        (data_directory / "myid").write_text(f"{membership.number}\n")
        main_class = OF_AN_ENSEMBLE
        flags = (*flags, *_naming(membership, directory / "hosts"))
    return spawn(program.serve(config, *flags, main_class=main_class), directory / LOG_NAME)


def _naming(membership: Membership, hosts: Path) -> tuple[str, ...]:
    if membership.hosts is None:
        return ()
    hosts.write_text(membership.hosts)
    return (hosts_flag(hosts),)


def spawn(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Run a JVM in a session of its own, so that Ctrl-C in a terminal does not reach it."""
    parent = os.getpid()
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            # Safe here: the supervisor has one thread, nobody else can hold a lock at the fork.
            preexec_fn=lambda: die_with(parent),  # noqa: PLW1509
        )


def wait_until_serving(
    server: subprocess.Popen[bytes],
    directory: Path,
    host: str,
    port: int,
    *,
    keep_waiting: Callable[[], None] = lambda: None,
    timeout_s: float = START_TIMEOUT_S,
) -> None:
    """Return once the server serves. ``keep_waiting`` is called between probes and may raise.

    Raises ClusterError when the server ends, or does not serve in time.
    """
    deadline = time.monotonic() + timeout_s
    log = directory / LOG_NAME
    data_directory = str(directory / "data")
    patience = Patience()
    while not patience.probe(partial(serves_from, host, port, data_directory)):
        if server.poll() is not None:
            raise ClusterError(f"ZooKeeper ended ({last_line(log)}): see {log}")
        if time.monotonic() > deadline:
            raise ClusterError(f"ZooKeeper does not serve after {timeout_s:.0f} s: see {log}")
        keep_waiting()
        time.sleep(PROBE_INTERVAL_S)
