"""Small runs on real clusters, judged by all that they left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from logquake.chaos.checkers import Demands, Verdict
from logquake.chaos.history.rows import Kind
from logquake.chaos.observer import observing
from logquake.cluster.api import Cluster
from tests.lab import PATIENT, Lab, wait_for_acks
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.usefixtures("leaves_nothing")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with ExitStack() as stack:
        kafka = stack.enter_context(
            Cluster(brokers=3, data_dir=tmp_path / "cluster", config=PATIENT)
        )
        yield Lab(kafka, tmp_path / "told", stack)


def test_a_run_with_a_killed_leader_holds(lab: Lab) -> None:
    kafka = lab.kafka
    for topic in ("orders", "moved"):
        kafka.create_topic(topic, partitions=2, config={"min.insync.replicas": 2})
    producer, others = (
        lab.start("idempotent"),
        [
            lab.start("transactional"),
            lab.start("mover"),
            lab.start("member", group="g", leave_every_s=2),
            lab.start("member", group="g"),
        ],
    )
    with observing(kafka, lab.harness, every_s=0.2):
        wait_for_acks(producer, 50)
        begun = lab.harness.record(Kind.FAULT_BEGUN, "leader", after={"kind": "kill"})
        with kafka.kill("leader:orders/0") as fault:
            kafka.wait_leader_change("orders", 0, fault, PATIENCE_S)
            wait_for_acks(producer, 100)
        lab.harness.record(Kind.FAULT_ENDED, "leader", caused_by=begun)
        wait_for_acks(producer, 50)
        for each in (producer, *others):
            each.end()
        for topic in ("orders", "moved"):
            for partition in range(2):
                kafka.wait_isr(topic, partition, 3, PATIENCE_S)
        lab.read_all("orders")
    judgement = lab.judge()
    assert judgement.verdict is Verdict.HOLDS, str(judgement)
    unjudged = [r for r in judgement.rulings if r.verdict is not Verdict.HOLDS]
    assert not unjudged, str(judgement)


def test_what_acks_of_1_lose_is_told_and_breaks_a_promise_of_more(lab: Lab) -> None:
    kafka = lab.kafka
    kafka.create_topic("orders", partitions=1)
    leader = kafka.leader("orders", 0)
    followers = [broker for broker in (1, 2, 3) if broker != leader]
    producer = lab.start("plain", acks="1")
    wait_for_acks(producer, 20)
    begun = lab.harness.record(Kind.FAULT_BEGUN, "followers", after={"kind": "pause"})
    with ExitStack() as paused:
        for broker in followers:
            paused.enter_context(kafka.pause(broker))
        wait_for_acks(producer, 50)
        fault = paused.enter_context(kafka.kill(leader))
        for broker in followers:
            kafka.resume(broker)
        kafka.wait_leader_change("orders", 0, fault, PATIENCE_S)
        wait_for_acks(producer, 20)
    lab.harness.record(Kind.FAULT_ENDED, "followers", caused_by=begun)
    producer.end()
    kafka.wait_isr("orders", 0, 3, PATIENCE_S)
    judgement = lab.judge()
    assert judgement.verdict is Verdict.HOLDS, str(judgement)
    (note,) = judgement.notes
    assert "acked sends to orders-0 are not in the leader" in note.text
    assert any(f"broker {leader} truncated orders-0" in each for each in note.chain), str(note)
    assert any("was elected to lead orders-0" in each for each in note.chain), str(note)
    strict = lab.judge(Demands(acks_that_promise=("all", "1"), acked_under_fault=10))
    assert strict.verdict is Verdict.BROKEN
    broken = {violation.invariant for violation in strict.violations}
    assert {"durable", "leader completeness"} <= broken, str(strict)
