"""Workloads over our own client, while a leader is killed: what they tell holds, and says the same
things as that of those over librdkafka.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from logquake.chaos.checkers import Verdict
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.observer import observing
from logquake.chaos.workloads.plan import ClientLibrary, Plan
from logquake.chaos.workloads.processes import WorkloadProcess
from logquake.cluster.api import Cluster
from tests.lab import Lab, wait_for_acks
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("leaves_nothing")]

PARTITIONS = 2
KINDS = {"plain": "orders", "idempotent": "orders", "compacted": "few", "transactional": "orders"}
OURS, CONFLUENT = ClientLibrary.OWN, ClientLibrary.CONFLUENT


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(brokers=3, data_dir=tmp_path_factory.mktemp("own") / "cluster") as kafka:
        for topic in ("orders", "few", "haunted", "moved"):
            kafka.create_topic(topic, partitions=PARTITIONS, config={"min.insync.replicas": 2})
        yield kafka


def test_what_our_clients_do_under_faults_holds(kafka: Cluster, tmp_path: Path) -> None:
    with ExitStack() as stack:
        lab = Lab(kafka, tmp_path / "rows", stack)
        ours = {
            kind: lab.start(kind, client=OURS, rate=50, topic=topic)
            for kind, topic in KINDS.items()
        }
        ours["mover"] = lab.start("mover", client=OURS, group="movers")
        librdkafkas = lab.start("transactional", client=CONFLUENT, rate=50)
        with observing(kafka, lab.harness, every_s=0.2):
            for each in (*ours.values(), librdkafkas):
                wait_for_acks(each, 20)
            begun = lab.harness.record(Kind.FAULT_BEGUN, "leader", after={"kind": "kill"})
            with kafka.kill("leader:orders/0") as fault:
                kafka.wait_leader_change("orders", 0, fault, PATIENCE_S)
                for each in ours.values():
                    wait_for_acks(each, 20)
            lab.harness.record(Kind.FAULT_ENDED, "leader", caused_by=begun)
            for each in (*ours.values(), librdkafkas):
                each.end()
            for topic in ("orders", "few", "moved"):
                for partition in range(PARTITIONS):
                    kafka.wait_isr(topic, partition, 3, PATIENCE_S)
            lab.read_all("orders")
        judgement = lab.judge()
        rows = {kind: list(one.rows()) for kind, one in ours.items()}
        others = list(librdkafkas.rows())
    assert judgement.verdict is Verdict.HOLDS, str(judgement)
    for told in rows.values():
        check(told)
    assert kinds_of(rows["transactional"]) == kinds_of(others)
    assert rows["transactional"][0].after.keys() == others[0].after.keys()


def test_what_our_consumers_do_under_faults_holds(kafka: Cluster, tmp_path: Path) -> None:
    kafka.create_topic("read", partitions=PARTITIONS, config={"min.insync.replicas": 2})
    with ExitStack() as stack:
        lab = Lab(kafka, tmp_path / "rows", stack)
        sends = [
            lab.start(kind, client=OURS, rate=50, topic="read")
            for kind in ("idempotent", "transactional")
        ]
        members = [
            lab.start("member", client=OURS, topic="read", strategy=strategy, leave_every_s=leaves)
            for strategy, leaves in (("cooperative-sticky", 0), ("cooperative-sticky", 5))
        ]
        reader = lab.start("reader", client=OURS, topic="read")
        with observing(kafka, lab.harness, every_s=0.2):
            for each in members:
                wait_for_commits(each, 3)
            begun = lab.harness.record(Kind.FAULT_BEGUN, "leader", after={"kind": "kill"})
            with kafka.kill("leader:read/0") as fault:
                kafka.wait_leader_change("read", 0, fault, PATIENCE_S)
                for each in members:
                    wait_for_commits(each, 3)
            lab.harness.record(Kind.FAULT_ENDED, "leader", caused_by=begun)
            for each in (*sends, *members, reader):
                each.end()
            for partition in range(PARTITIONS):
                kafka.wait_isr("read", partition, 3, PATIENCE_S)
            lab.read_all("read")
        judgement = lab.judge()
        told = [list(each.rows()) for each in (*members, reader)]
    assert judgement.verdict is Verdict.HOLDS, str(judgement)
    for rows in told:
        assert (rows[0].what, rows[-1].what) == (Kind.BEGAN, Kind.ENDED)
        assert rows[-1].why is None
        assert any(row.what == Kind.POLLED for row in rows)


def wait_for_commits(member: WorkloadProcess, count: int) -> None:
    """So many more that are kept."""

    def kept() -> int:
        answers = (row for row in member.rows() if row.what == Kind.COMMIT_ANSWERED)
        return sum(row.after == "kept" for row in answers)

    before = kept()
    wait_for(f"commits of {member.name}", lambda: kept() - before, lambda more: more >= count)


def check(rows: list[Row]) -> None:
    """It began, ended, and has one answer to each question."""
    assert (rows[0].what, rows[-1].what) == (Kind.BEGAN, Kind.ENDED)
    for question, answers in (
        (Kind.SEND, {Kind.ACKED, Kind.REFUSED, Kind.UNKNOWN}),
        (Kind.TRANSACTION_BEGUN, {Kind.TRANSACTION_ENDED}),
    ):
        asked = [row.sequence for row in rows if row.what == question]
        assert asked == sorted(row.caused_by or 0 for row in rows if row.what in answers)


def kinds_of(rows: list[Row]) -> set[str]:
    """But for those that a fault may bring about, or not."""
    return {row.what for row in rows} - {Kind.REFUSED, Kind.UNKNOWN}


@pytest.mark.parametrize("successor", [OURS, CONFLUENT])
def test_a_zombie_is_fenced_by_the_one_that_took_its_place(
    kafka: Cluster, tmp_path: Path, successor: ClientLibrary
) -> None:
    haunted = Plan.of(
        "transactional",
        kafka.bootstrap_servers,
        {"topic": "haunted", "rate": 20, "client": OURS},
    )
    plan = replace(haunted, transactional_id=f"t-{successor}", take_over=False, aborted=0.0)
    with WorkloadProcess(plan, "zombie", tmp_path) as zombie:
        wait_for_an_end(zombie)
        takes_over = replace(plan, ordinal=1, client=successor)
        with zombie.paused(), WorkloadProcess(takes_over, "successor", tmp_path) as follower:
            wait_for_an_end(follower)
            follower.end()
        zombie.wait(PATIENCE_S)
        *_, last = zombie.rows()
    assert (last.what, last.why) == (Kind.ENDED, "PRODUCER_FENCED")


def wait_for_an_end(process: WorkloadProcess) -> None:
    wait_for(
        f"transaction of {process.name}",
        lambda: any(row.what == Kind.TRANSACTION_ENDED for row in process.rows()),
    )
