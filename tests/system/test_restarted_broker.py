"""What clients are told by a broker that has just come back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from logquake.client.errors import ConnectionLostError
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError, WaitTimeoutError
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import MetadataResponseTopic
from tests.one_broker import OneBroker
from tests.waiting import wait_for

BROKERS = 3
TOPIC = "orders"
PARTITIONS = 40
LONG_SESSIONS = {"zookeeper.session.timeout.ms": "20000"}  # a paused controller stays in office


def ask(address: str) -> MetadataResponseTopic | None:
    """What this broker says of the topic; None when it ended the connection, or took none."""
    try:
        return OneBroker(int(address.rpartition(":")[2])).topic(TOPIC)
    except ConnectionLostError:
        return None


def test_restarted_broker_never_calls_an_existing_topic_unknown(tmp_path: Path) -> None:
    """Not even when the controller, which would tell it, stands still."""
    with Cluster(brokers=BROKERS, data_dir=tmp_path / "cluster") as kafka:
        kafka.create_topic(TOPIC, partitions=3, replication_factor=BROKERS)
        controller = kafka.controller()
        back = next(broker for broker in range(1, BROKERS + 1) if broker != controller)
        kafka.kill(back)
        kafka.wait_isr(TOPIC, 0, BROKERS - 1)
        kafka.pause(controller)
        kafka.start(back, wait=False)
        address = next(m.address for m in kafka.state().members if m.broker_id == back)
        answer = wait_for("answer of the restarted broker", lambda: ask(address))
        assert answer is not None
        assert answer.error_code == ErrorCode.NONE
        assert len(answer.partitions) == 3
        kafka.resume(controller)
        kafka.wait_isr(TOPIC, 0, BROKERS)


def test_start_returns_when_every_replica_has_its_role(tmp_path: Path) -> None:
    with Cluster(brokers=BROKERS, data_dir=tmp_path / "cluster") as kafka:
        kafka.create_topic(TOPIC, partitions=PARTITIONS, replication_factor=BROKERS)
        kafka.kill(2)
        before = events_of(kafka, 2)
        kafka.start(2)
        # It is told that the broker is ready before the journal's last lines are written.
        events = wait_for(
            "word that it is ready",
            lambda: events_of(kafka, 2)[len(before) :],
            lambda since: "ready" in [event["what"] for event in since],
        )
        (ready,) = [at for at, event in enumerate(events) if event["what"] == "ready"]
        # One that the controller was not done with when broker 2 came back is told a second time.
        roles = {e["subject"] for e in events[:ready] if e["what"] == "role-changed"}
        assert len(roles) == PARTITIONS


def test_start_waits_for_the_controller_and_says_that_nothing_came() -> None:
    with Cluster(brokers=BROKERS, config=LONG_SESSIONS) as kafka:
        kafka.create_topic(TOPIC, partitions=3, replication_factor=BROKERS)
        controller = kafka.controller()
        other = next(broker for broker in range(1, BROKERS + 1) if broker != controller)
        kafka.stop(other)
        with kafka.pause(controller):
            with pytest.raises(WaitTimeoutError, match=f"broker-{other} is not ready after 2 s"):
                kafka.start(other, timeout=2)
            with pytest.raises(ClusterError, match="running already"):
                kafka.start(other)
        kafka.wait_isr(TOPIC, 0, BROKERS)


def test_a_fault_that_is_healed_leaves_a_broker_that_is_ready(tmp_path: Path) -> None:
    with Cluster(brokers=2, data_dir=tmp_path / "cluster") as kafka:
        with kafka.kill(2):
            before = times_ready(kafka, 2)
        wait_for("word of it", lambda: times_ready(kafka, 2), (before + 1).__eq__)


def test_start_of_a_broker_that_ends_says_its_last_words(tmp_path: Path) -> None:
    with Cluster(brokers=2, data_dir=tmp_path / "cluster") as kafka:
        kafka.stop(2)
        (kafka.layout.data_of(2) / "meta.properties").write_text("version=7\n")
        with pytest.raises(ClusterError, match=r"broker-2 ended before it was ready: .*version"):
            kafka.start(2)


def times_ready(kafka: Cluster, broker_id: int) -> int:
    return [event["what"] for event in events_of(kafka, broker_id)].count("ready")


def events_of(kafka: Cluster, broker_id: int) -> list[dict[str, Any]]:
    """Those that are written whole."""
    text = (kafka.layout.events / f"broker-{broker_id}.jsonl").read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
