"""Everything that can be known of a cluster in which something went wrong.

Into one folder go the state directory but for indexes, what the supervisor and ZooKeeper say,
every broker's connections, and, where the program py-spy is installed, every broker's stacks.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil

from logquake.cluster.errors import ClusterError
from logquake.cluster.running.cluster import RunningCluster
from logquake.zk.znodes.brokers import IDS_PATH

KEPT = ("*.jsonl*", "*.log", "*.snapshot", "*.json", "server.properties", "*checkpoint*")
STACKS_TIMEOUT_S = 60


def save(kafka: RunningCluster, folder: Path, why: str) -> None:
    folder.mkdir(parents=True)
    (folder / "why").write_text(f"{why}\n")
    for name, look in {
        "describe": kafka.describe,
        "status": lambda: json.dumps(kafka.state().to_json(), indent=1),
        "zookeeper": lambda: _zookeeper(kafka),
        "connections": lambda: _of_each_broker(kafka, _connections),
        "stacks": lambda: _of_each_broker(kafka, _stacks),
    }.items():
        (folder / name).write_text(_said(look))
    _copy_files(kafka.layout.root, folder / "state")


def _said(look: Callable[[], str]) -> str:
    try:
        return look()
    except (ClusterError, psutil.Error, OSError, subprocess.SubprocessError) as error:
        return repr(error)


def _zookeeper(kafka: RunningCluster) -> str:
    view = kafka.view
    lines = [f"controller {view.controller()}", f"{IDS_PATH} {sorted(view.live_brokers())}"]
    lines += [f"{partition} {state}" for partition, state in view.all_partitions().items()]
    return "\n".join(lines)


def _of_each_broker(kafka: RunningCluster, look: Callable[[int], str]) -> str:
    running = [(one.name, one.pid) for one in kafka.state().brokers if one.pid is not None]
    return "\n".join(f"== {name} ({pid})\n{_said(partial(look, pid))}" for name, pid in running)


def _connections(pid: int) -> str:
    return "\n".join(map(str, psutil.Process(pid).net_connections("tcp")))


def _stacks(pid: int) -> str:
    program = Path(sys.executable).with_name("py-spy")
    command = [str(program), "dump", "--locals", "--pid", str(pid)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=STACKS_TIMEOUT_S, check=False
    ).stdout


def _copy_files(root: Path, target: Path) -> None:
    for pattern in KEPT:
        for path in root.rglob(pattern):
            copy = target / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
