"""Clusters come up and go down, however they are ended, and leave nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from functools import partial
from operator import not_
from pathlib import Path
from typing import Any

import psutil
import pytest

from logquake.cluster.api import Cluster
from logquake.cluster.state import ClusterState, Phase
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.usefixtures("leaves_nothing")

ROUNDS = 10

UP = ("up", "-n", "2", "--any-port")
LONG_GRACE = """
from logquake.cluster.supervisor import supervisor
supervisor.STOP_GRACE_MS = 3_600_000
"""


@pytest.mark.slow
def test_up_and_down_again_and_again() -> None:
    for _ in range(ROUNDS):
        with Cluster(brokers=3) as kafka:
            state = kafka.state()
            assert [broker.phase for broker in state.brokers] == [Phase.RUNNING] * 3
            assert kafka.controller() in (1, 2, 3)
        assert not [broker.port for broker in state.brokers if listens(broker.port)]


def test_a_block_that_raises_leaves_nothing() -> None:
    def raise_in_a_block() -> None:
        with kafka:
            states.append(kafka.state())
            raise ZeroDivisionError

    kafka = Cluster(brokers=1)
    states: list[ClusterState] = []
    with pytest.raises(ZeroDivisionError):
        raise_in_a_block()
    (state,) = states
    assert not any(listens(member.port) for member in state.members)
    assert not kafka.layout.root.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_cluster_cleanly_and_keeps_its_data(
    logquake: Any, number: signal.Signals
) -> None:
    up = logquake.start(*UP)
    state = read_until_ready(up)
    up.send_signal(number)
    assert up.wait(PATIENCE_S) == 0, up.stdout.read()
    up.stdout.close()
    assert ended_cleanly(state)
    assert (state / "broker-1" / "data" / ".kafka_cleanshutdown").exists()


def test_a_second_signal_does_not_wait_for_a_broker_that_hangs(
    logquake: Any, tmp_path: Path
) -> None:
    """Nor for as long as brokers may take to end, which is longer here than the test waits."""
    (tmp_path / "sitecustomize.py").write_text(LONG_GRACE)
    up = logquake.start(*UP, PYTHONPATH=str(tmp_path))
    state = read_until_ready(up)
    hang(state, "broker-1")
    up.send_signal(signal.SIGINT)
    wait_for_line(up, "once more to stop at once")
    up.send_signal(signal.SIGINT)
    up.wait(PATIENCE_S)
    up.stdout.close()
    assert ended_cleanly(state)


def test_a_killed_supervisor_takes_everything_with_it(logquake: Any) -> None:
    up = logquake.start(*UP)
    state = read_until_ready(up)
    processes = [psutil.Process(pid) for pid in pids(state)]
    hang(state, "broker-1")
    os.kill(json.loads((state / "state.json").read_text())["supervisor_pid"], signal.SIGKILL)
    assert up.wait(PATIENCE_S) == 2
    assert "the supervisor" in up.stdout.read()
    up.stdout.close()
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE_S)
    assert not alive
    assert "no cluster runs" in logquake.refused("status")


@pytest.mark.parametrize("ask", [True, False], ids=["asked to stop", "left alone"])
def test_a_cluster_whose_directory_is_removed_ends_with_one_line(logquake: Any, ask: bool) -> None:
    up = logquake.start(*UP, "-c", "replica.high.watermark.checkpoint.interval.ms=500")
    state = read_until_ready(up)
    processes = [psutil.Process(pid) for pid in pids(state)]
    shutil.rmtree(state)
    if ask:
        up.send_signal(signal.SIGTERM)
    said, _ = up.communicate(timeout=PATIENCE_S)
    assert up.returncode == 2, said
    assert said.splitlines()[-1].endswith(f"{state} was removed: the cluster in it has ended")
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE_S)
    assert not alive
    assert not state.exists()


def test_a_killed_launcher_ends_its_cluster(logquake: Any) -> None:
    up = logquake.start(*UP, "--links")
    state = read_until_ready(up)
    processes = [psutil.Process(pid) for pid in pids(state)]
    up.kill()
    up.wait()
    up.stdout.close()
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE_S)
    assert not alive
    wait_for("end without sockets", lambda: [*state.glob("*.sock")], not_)


def test_up_again_finds_the_cluster_that_runs(logquake: Any) -> None:
    logquake.ok(*UP, "-d")
    before = logquake.ok("status", "--output", "json")
    assert json.loads(before)["bootstrap_servers"] in logquake.ok("up")
    assert pids_of(before) == pids_of(logquake.ok("status", "--output", "json"))
    assert "runs already with other settings" in logquake.refused("up", "-n", "3")
    logquake.ok("down")
    logquake.ok("down")
    assert not list(logquake.home.iterdir())


def test_kept_data_is_there_after_the_next_up(logquake: Any) -> None:
    logquake.ok(*UP, "-d", "-c", "num.partitions=3")
    logquake.ok("topic", "create", "orders", "--partitions", "2")
    logquake.ok("down", "--keep-data")
    logquake.ok("up", "-d")
    assert logquake.ok("topic", "list").split() == ["orders"]
    described = json.loads(logquake.ok("status", "-o", "json"))
    assert len(described["partitions"]) == 2
    logquake.ok("down")


def test_configurations_are_shown_and_changed(logquake: Any) -> None:
    logquake.ok(*UP, "-d")
    logquake.ok("topic", "create", "orders")
    topic = ("topic", "config", "orders")
    for command, key in (
        (topic, "retention.ms"),
        (("configs", "1"), "log.retention.ms"),
        (("configs", "all"), "log.retention.ms"),
    ):
        shown = partial(logquake.ok, *command)
        logquake.ok(*command, f"{key}=86400000")
        wait_for("the key that was set", shown, lambda text: "86400000" in text)
        logquake.ok(*command, "-d", key)
        wait_for("no key", shown, lambda text: "86400000" not in text)
    assert "broker.id" in logquake.ok("configs", "1", "--all")
    refused = logquake.refused(*topic, "no.such=1")
    assert "Unknown topic config name: no.such" in refused
    assert "is no broker" in logquake.refused("configs", "one")
    logquake.ok("down")


def test_a_broker_that_died_stays_dead_until_it_is_started(cluster: Cluster) -> None:
    port = cluster.state().brokers[1].port
    fault = cluster.kill(2)
    dead = cluster.state().brokers[1]
    assert dead.phase is Phase.ENDED
    assert dead.ended is not None
    assert (dead.ended.signal, dead.ended.asked) == ("SIGKILL", True)
    assert not listens(port)
    fault.heal()
    assert cluster.state().brokers[1].port == port
    assert listens(port)


def test_leadership_moves_from_a_killed_leader(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic(partitions=1, replicas=3)
    leader = cluster.leader(name, 0)
    with cluster.kill(f"leader:{name}/0") as fault:
        assert cluster.wait_leader_change(name, 0, since=fault) != leader
        cluster.wait_isr(name, 0, size=2)
    assert set(cluster.wait_isr(name, 0, size=3)) == {1, 2, 3}


def test_a_stopped_broker_hands_its_leaderships_over_first(
    cluster: Cluster, topic: Callable[..., str]
) -> None:
    name = topic(partitions=1, replicas=3)
    leader = cluster.leader(name, 0)
    with cluster.stop(leader):
        assert cluster.leader(name, 0) != leader
        ended = cluster.state().brokers[leader - 1].ended
        assert ended is not None
        assert ended.status == 0
    cluster.wait_isr(name, 0, size=3)


def test_a_paused_controller_is_replaced(cluster: Cluster) -> None:
    controller = cluster.controller()
    with cluster.pause("controller"):
        assert cluster.wait_controller(other_than=controller) != controller
    wait_until_whole(cluster)  # all may still have told what was so before the pause


def test_a_wait_in_vain_shows_the_state(cluster: Cluster, topic: Callable[..., str]) -> None:
    name = topic(partitions=1, replicas=2)
    with pytest.raises(TimeoutError) as caught:
        cluster.wait_isr(name, 0, size=3, timeout=0.1)
    assert f"ISR of {name}-0 has not 3 members after 0.1 s" in str(caught.value)
    assert re.search(rf"{name}-0 +[123] ", str(caught.value))
    assert "broker-3" in str(caught.value)


def test_brokers_answer_what_the_cluster_says(cluster: Cluster) -> None:
    cluster.wait_ready()  # a test before this one may have left a broker on its way back
    wait_until_whole(cluster)


def wait_until_whole(cluster: Cluster) -> None:
    """Until a broker that heard of the present controller tells of all brokers."""
    with cluster.admin(PATIENCE_S) as admin:
        wait_for(
            "description as the cluster's",
            lambda: admin.describe_cluster().result(),
            lambda told: (
                {broker.id for broker in told.nodes} == {1, 2, 3}
                and told.controller is not None
                and told.controller.id == cluster.controller()
            ),
        )


def read_until_ready(up: subprocess.Popen[str]) -> Path:
    """The state directory that ``up`` names."""
    root = wait_for_line(up, "state ").split()[-1]
    wait_for_line(up, "ready after")
    return Path(root)


def wait_for_line(up: subprocess.Popen[str], text: str) -> str:
    seen = []
    assert up.stdout is not None
    for line in up.stdout:
        seen.append(line)
        if text in line:
            return line
    raise AssertionError("".join(seen))


def hang(state: Path, member: str) -> None:
    """Stop a process without the supervisor's knowledge."""
    members = json.loads((state / "state.json").read_text())["members"]
    (pid,) = [one["pid"] for one in members if one["name"] == member]
    os.kill(pid, signal.SIGSTOP)


def pids(state: Path) -> list[int]:
    return pids_of((state / "state.json").read_text())


def pids_of(document: str) -> list[int]:
    return [member["pid"] for member in json.loads(document)["members"]]


def ended_cleanly(state: Path) -> bool:
    return all(
        not listens(member["port"])
        for member in json.loads((state / "state.json").read_text())["members"]
    )


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
