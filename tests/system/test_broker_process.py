"""A broker started by hand: how it says what is wrong, and how it stops."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from logquake.cluster.api import Cluster
from tests.system.zookeeper.relay import relay_to
from tests.waiting import PATIENCE_S, wait_for

PROGRAM = """
import json, sys
from pathlib import Path
from logquake.node.process.broker_process import run_broker
from logquake.node.settings import BrokerSettings
settings = BrokerSettings.from_properties(json.loads(sys.argv[1]))
sys.exit(run_broker(settings, Path(sys.argv[2]), ready=lambda: {ready}))
"""
SAY_READY = 'print("ready", flush=True)'

Process = subprocess.Popen[str]
Start = Callable[..., Process]


@pytest.fixture(scope="module")
def kafka() -> Iterator[Cluster]:
    with Cluster(brokers=1) as kafka:
        yield kafka


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a broker; keys of its configuration are written with '_' for '.'."""
    processes: list[Process] = []

    def start_broker(zookeeper: str, ready: str = SAY_READY, **keys: str) -> Process:
        properties = {
            "broker.id": "7",
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "log.dirs": str(tmp_path / "data"),
            "zookeeper.connect": zookeeper,
            "zookeeper.session.timeout.ms": "2000",
            "controlled.shutdown.retry.backoff.ms": "100",
        } | {key.replace("_", "."): value for key, value in keys.items()}
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                PROGRAM.replace("{ready}", ready),
                json.dumps(properties),
                str(tmp_path / "events"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start_broker
    for process in processes:
        process.kill()
        process.communicate()


def refusal(process: Process) -> str:
    """The one line that a broker leaves that cannot run here."""
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2, errors
    [line] = errors.splitlines()
    return line


def wait_until_ready(process: Process) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


def wait_for_event(process: Process, events: Path, what: str) -> None:
    """Until the broker has written such an event."""

    def written() -> str:
        if process.poll() is not None:
            pytest.fail(f"it ended: {process.communicate()}")
        return events.read_text() if events.exists() else ""

    wait_for(f"event {what}", written, lambda text: f'"{what}"' in text)


@contextlib.contextmanager
def paused(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_zookeeper_that_answers_slowly_is_no_reason_to_give_up(
    start: Start, kafka: Cluster
) -> None:
    """zookeeper.connection.timeout.ms is for the session alone, not for what is read then."""
    host, _, port = kafka.zookeeper_connect.partition(":")
    with relay_to(int(port), answer_delay_s=0.8) as relay:
        process = start(
            f"{host}:{relay.port}",
            broker_id="6",  # which nobody waits for: its session outlives it
            zookeeper_connection_timeout_ms="4000",
            zookeeper_session_timeout_ms="20000",
        )
        wait_until_ready(process)
        process.kill()
        process.communicate()


class TestRefusals:
    def test_no_zookeeper(self, start: Start) -> None:
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{nobody.getsockname()[1]}"
            process = start(address, zookeeper_connection_timeout_ms="300")
            assert f"no ZooKeeper at {address} within 300 ms" in refusal(process)

    def test_a_taken_port(self, start: Start) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            process = start("127.0.0.1:1", listeners=f"PLAINTEXT://127.0.0.1:{port}")
            assert f"cannot listen on 127.0.0.1:{port}" in refusal(process)

    def test_a_taken_id(self, start: Start, kafka: Cluster) -> None:
        process = start(kafka.zookeeper_connect, broker_id="1")
        assert "broker id 1 is taken" in refusal(process)

    def test_an_id_that_was_taken_while_the_broker_was_paused(
        self, start: Start, kafka: Cluster, tmp_path: Path
    ) -> None:
        """Its session expires, another broker registers: the one that wakes up must yield."""
        sleeper = start(kafka.zookeeper_connect)
        wait_until_ready(sleeper)
        with paused(sleeper.pid):
            other = start(
                kafka.zookeeper_connect,
                log_dirs=str(tmp_path / "other"),
                zookeeper_session_timeout_ms="20000",
            )
            wait_until_ready(other)
        line = refusal(sleeper)
        assert line.startswith("broker 7: broker id 7 is taken: a live broker at 127.0.0.1:")
        assert other.poll() is None
        other.terminate()  # its session would outlive it
        other.communicate(timeout=PATIENCE_S)

    def test_a_data_directory_in_use(self, start: Start, kafka: Cluster, tmp_path: Path) -> None:
        wait_until_ready(start(kafka.zookeeper_connect, broker_id="8"))
        process = start(kafka.zookeeper_connect, broker_id="9")
        assert f"{tmp_path / 'data'} is in use" in refusal(process)

    def test_a_data_directory_that_cannot_be_made(
        self, start: Start, kafka: Cluster, tmp_path: Path
    ) -> None:
        (tmp_path / "file").touch()
        process = start(kafka.zookeeper_connect, log_dirs=str(tmp_path / "file" / "data"))
        assert str(tmp_path / "file" / "data") in refusal(process)

    def test_a_journal_that_cannot_be_written(self, start: Start, tmp_path: Path) -> None:
        (tmp_path / "events").mkdir()
        assert "cannot write events to" in refusal(start("127.0.0.1:1"))


class TestStopping:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_stops_it_in_order(
        self, start: Start, kafka: Cluster, tmp_path: Path, number: signal.Signals
    ) -> None:
        process = start(kafka.zookeeper_connect)
        wait_until_ready(process)
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, errors) == (0, "")
        assert (tmp_path / "data" / ".kafka_cleanshutdown").exists()

    def test_it_can_be_started_again_at_once(self, start: Start, kafka: Cluster) -> None:
        for _ in range(2):
            process = start(kafka.zookeeper_connect)
            wait_until_ready(process)
            process.terminate()
            process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0

    def test_a_signal_before_there_is_a_zookeeper_stops_it(self, start: Start) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            process = start(f"127.0.0.1:{silent.getsockname()[1]}")
            silent.accept()[0].close()  # it is up and asks for ZooKeeper
            process.terminate()
            _, errors = process.communicate(timeout=PATIENCE_S)
            assert (process.returncode, errors) == (0, "")

    def test_a_second_signal_stops_it_although_the_controller_does_not_answer(
        self, start: Start, kafka: Cluster, tmp_path: Path
    ) -> None:
        [controller] = [one for one in kafka.state().members if one.name == "broker-1"]
        assert controller.pid is not None
        process = start(kafka.zookeeper_connect)
        wait_until_ready(process)
        with paused(controller.pid):
            process.terminate()
            wait_for_event(process, tmp_path / "events", "stopping")
            process.terminate()
            _, errors = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, errors) == (0, "")
        assert '"stopping-at-once"' in (tmp_path / "events").read_text()
        assert (tmp_path / "data" / ".kafka_cleanshutdown").exists()

    def test_a_signal_while_the_logs_are_opened_stops_it(
        self, start: Start, kafka: Cluster, tmp_path: Path
    ) -> None:
        (tmp_path / "data").mkdir()
        slow = tmp_path / "data" / "meta.properties"
        os.mkfifo(slow)  # whoever reads it waits for us
        process = start(kafka.zookeeper_connect)
        with slow.open("w"):
            process.terminate()
            wait_for_event(process, tmp_path / "events", "stopping")
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, errors) == (0, "")
        assert not (tmp_path / "data" / ".kafka_cleanshutdown").exists()

    def test_a_bug_leaves_its_traceback_and_logs_that_do_not_count_as_clean(
        self, start: Start, kafka: Cluster, tmp_path: Path
    ) -> None:
        process = start(kafka.zookeeper_connect, ready="1 / 0")
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1
        assert errors.startswith("Traceback")
        assert errors.endswith("ZeroDivisionError: division by zero\n")
        assert (tmp_path / "data" / "meta.properties").exists()
        assert not (tmp_path / "data" / ".kafka_cleanshutdown").exists()

    def test_settings_that_nothing_reads_are_told_in_the_journal(
        self, start: Start, kafka: Cluster, tmp_path: Path
    ) -> None:
        process = start(kafka.zookeeper_connect, log_segment_bites="1", num_io_threads="9")
        wait_until_ready(process)
        process.terminate()
        process.communicate(timeout=PATIENCE_S)
        events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
        ignored = {one["subject"]: one["why"] for one in events if one["what"] == "setting-ignored"}
        assert ignored == {
            "log.segment.bites": "Kafka has no such key",
            "num.io.threads": "nothing here reads this key",
        }
