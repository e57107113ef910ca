"""The examples in Go and in Node: tests of services that lose a leader by the control port."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from logquake.cluster.api import Cluster
from tests.compat.fetched import NPM_INSTALL, fetched, run_in
from tests.conftest import nothing_left_behind

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("controlled") / "temporary"
    with nothing_left_behind(folder), Cluster(brokers=3, control=True) as kafka:
        yield kafka


def as_env_prints(cluster: Cluster) -> dict[str, str]:
    port = cluster.control_port
    assert port is not None
    return {
        "BOOTSTRAP_SERVERS": cluster.bootstrap_servers,
        "LOGQUAKE_CONTROL_URL": port.url,
        "LOGQUAKE_CONTROL_TOKEN": port.token,
    }


def test_a_go_service_loses_a_leader(controlled: Cluster, tmp_path: Path) -> None:
    folder = fetched(EXAMPLES / "go", tmp_path, "go", "mod", "download")
    environment = as_env_prints(controlled)
    status, printed = run_in(folder, "go", "test", "-count=1", "./...", environment=environment)
    assert status == 0, printed


def test_a_node_service_loses_a_leader(controlled: Cluster, tmp_path: Path) -> None:
    folder = fetched(EXAMPLES / "node", tmp_path, *NPM_INSTALL)
    status, printed = run_in(folder, "node", "--test", environment=as_env_prints(controlled))
    assert status == 0, printed
