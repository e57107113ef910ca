"""Brokers started by hand, as ``logquake broker server.properties`` does, on any ZooKeeper."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient

from tests.waiting import PATIENCE_S

PROGRAM = str(Path(sys.executable).parent / "logquake")


@contextmanager
def broker_by_hand(folder: Path, properties: Mapping[str, object]) -> Iterator[None]:
    """For the length of the block; what it says goes to a file in ``folder``."""
    name = f"broker-{properties['broker.id']}"
    settings = folder / f"{name}.properties"
    settings.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    with (folder / f"{name}.log").open("ab") as log:
        process = subprocess.Popen([PROGRAM, "broker", str(settings)], stdout=log, stderr=log)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def own_chroot(zookeeper: str, name: str) -> str:
    """The address of an empty cluster's place in a server that runs."""
    client = KazooClient(zookeeper)
    client.start(PATIENCE_S)
    try:
        client.create(f"/{name}")
    finally:
        client.stop()
        client.close()
    return f"{zookeeper}/{name}"
