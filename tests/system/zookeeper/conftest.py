"""A real ZooKeeper server, and the ensembles that the contract is checked on."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from logquake.cluster.processes.ports import LOOPBACK, hold_port_for_java, port_of
from logquake.cluster.zookeeper.program import find_program
from logquake.cluster.zookeeper.server import spawn_server, wait_until_serving
from tests.system.zookeeper.ensembles import Ensemble, ModelEnsemble, RealEnsemble

_roots = itertools.count()


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[bytes]
    directory: Path
    port: int


@pytest.fixture(scope="session")
def zookeeper_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For all tests of this process."""
    directory: Path = tmp_path_factory.mktemp("zookeeper")
    with hold_port_for_java() as held:
        port = port_of(held)
        server = spawn_server(find_program(), directory, LOOPBACK, port)
        try:
            wait_until_serving(server, directory, LOOPBACK, port)
            yield Server(server, directory, port)
        finally:
            server.kill()
            server.wait()


@pytest.fixture(scope="session")
def zookeeper_port(zookeeper_server: Server) -> int:
    return zookeeper_server.port


@pytest.fixture
def real_ensemble(zookeeper_port: int) -> Iterator[Ensemble]:
    with ExitStack() as cleanup:
        yield RealEnsemble(zookeeper_port, f"/test-{os.getpid()}-{next(_roots)}", cleanup)


@pytest.fixture(params=["model", "zookeeper"])
def ensemble(request: pytest.FixtureRequest) -> Ensemble:
    """The same tests run on both: what the model is held to, ZooKeeper does."""
    if request.param == "model":
        return ModelEnsemble("/test")
    real: Ensemble = request.getfixturevalue("real_ensemble")
    return real
