"""The examples in Go and in Node: tests of services that lose a leader by the control port."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from logquake.cluster.api import Cluster
from tests.conftest import nothing_left_behind

EXAMPLES = Path(__file__).parents[2] / "examples"
RUN_S = 400


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("controlled") / "temporary"
    with nothing_left_behind(folder), Cluster(brokers=3, control=True) as kafka:
        yield kafka


def failure_of(
    folder: Path, *command: str, environment: Mapping[str, str] | None = None
) -> str | None:
    """What a command printed, None where it succeeded."""
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    return ended.stdout or "it said nothing" if ended.returncode else None


def as_env_prints(cluster: Cluster) -> dict[str, str]:
    port = cluster.control_port
    assert port is not None
    return {
        "BOOTSTRAP_SERVERS": cluster.bootstrap_servers,
        "LOGQUAKE_CONTROL_URL": port.url,
        "LOGQUAKE_CONTROL_TOKEN": port.token,
    }


def fetched(language: str, tmp_path: Path, *command: str) -> Path:
    """A copy of the example with what it depends on; skips where that can't be had."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    folder = Path(shutil.copytree(EXAMPLES / language, tmp_path / language))
    failure = failure_of(folder, *command)
    if failure:
        pytest.skip(f"{' '.join(command)} fetches nothing: {failure.splitlines()[-1]}")
    return folder


def test_a_go_service_loses_a_leader(controlled: Cluster, tmp_path: Path) -> None:
    folder = fetched("go", tmp_path, "go", "mod", "download")
    environment = as_env_prints(controlled)
    failure = failure_of(folder, "go", "test", "-count=1", "./...", environment=environment)
    assert failure is None, failure


def test_a_node_service_loses_a_leader(controlled: Cluster, tmp_path: Path) -> None:
    folder = fetched("node", tmp_path, "npm", "install", "--no-audit", "--no-fund")
    failure = failure_of(folder, "node", "--test", environment=as_env_prints(controlled))
    assert failure is None, failure
