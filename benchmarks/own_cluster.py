"""Our own cluster, started as a program starts it: in a fresh process.

Run as a module it is that process: it opens a cluster, prints where it is, and closes it once its
standard input ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping

import psutil

from benchmarks.errors import BenchmarkError
from benchmarks.place import data_folder
from benchmarks.target import Target
from benchmarks.topics import FREES_SOON

NAME = "logquake"

_END_TIMEOUT_S = 60.0


@contextlib.contextmanager
def own_cluster(
    brokers: int,
    *,
    cold: bool = False,
    name: str = NAME,
    config: Mapping[str, str] | None = None,
    links: bool = False,
) -> Iterator[Target]:
    """Cold: with an empty cache directory, so without ZooKeeper's class archive.

    With ``links`` the process of these counts as a broker. Raises BenchmarkError when the cluster
    does not start.
    """
    with data_folder() as folder:
        environment = {**os.environ, "TMPDIR": str(folder)}
        if cold:
            environment["XDG_CACHE_HOME"] = str(folder / "cache")
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                __name__,
                str(brokers),
                json.dumps({**FREES_SOON, **(config or {})}),
                json.dumps(links),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        try:
            yield _target(name, process)
        finally:
            process.communicate(timeout=_END_TIMEOUT_S)  # closes its standard input


def _target(name: str, process: subprocess.Popen[bytes]) -> Target:
    line = process.stdout.readline() if process.stdout else b""
    if not line:
        raise BenchmarkError(f"our own cluster did not start: status {process.wait()}")
    place = json.loads(line)
    supervisor = psutil.Process(place["supervisor_pid"])
    return Target(
        name,
        place["bootstrap"],
        tuple(place["broker_pids"]),
        (supervisor.pid, *(child.pid for child in supervisor.children(recursive=True))),
    )


def _serve(brokers: int, config: Mapping[str, str], *, links: bool) -> None:
    from logquake.cluster.api import Cluster
    from logquake.cluster.state import LINKS

    with Cluster(brokers=brokers, config=config, links=links) as cluster:
        state = cluster.state()
        served_by = [one for one in state.members if one in state.brokers or one.name == LINKS]
        place = {
            "bootstrap": state.bootstrap_servers,
            "broker_pids": [member.pid for member in served_by],
            "supervisor_pid": state.supervisor_pid,
        }
        print(json.dumps(place), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), json.loads(sys.argv[2]), links=json.loads(sys.argv[3]))
