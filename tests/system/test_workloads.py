"""Every workload at work while a leader is killed, and what their histories say afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from logquake.chaos.history.numbers import numbers
from logquake.chaos.history.reader import read_file, read_history
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.observer import observing
from logquake.chaos.workloads.mixed import compacted_topic, mix_of
from logquake.chaos.workloads.plan import Plan
from logquake.chaos.workloads.processes import WorkloadFailed, WorkloadProcess
from logquake.cluster.api import Cluster
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.usefixtures("leaves_nothing")

PARTITIONS = 3
ENOUGH = 200  # rows


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(brokers=3, data_dir=tmp_path_factory.mktemp("workloads") / "cluster") as kafka:
        yield kafka


def create_topics(kafka: Cluster, *names: str) -> None:
    for name in names:
        kafka.create_topic(name, partitions=PARTITIONS, replication_factor=3)


def of_kind(rows: list[Row], *kinds: Kind) -> list[Row]:
    return [row for row in rows if row.what in kinds]


def rows_of(process: WorkloadProcess) -> list[Row]:
    return list(process.rows())


def wait_for_rows(process: WorkloadProcess, kind: Kind, more_than: int) -> None:
    wait_for(
        f"{kind} of {process.name}",
        lambda: len(of_kind(rows_of(process), kind)),
        lambda count: count > more_than,
        timeout_s=PATIENCE_S,
    )


OUTPUT = {
    "plain": Kind.ACKED,
    "idempotent": Kind.ACKED,
    "compacted": Kind.ACKED,
    "transactional": Kind.TRANSACTION_ENDED,
    "mover": Kind.TRANSACTION_ENDED,
    "member": Kind.COMMIT_ANSWERED,
    "reader": Kind.POLLED,
}


def test_each_tells_all_that_it_did_while_a_leader_was_killed(
    kafka: Cluster, tmp_path: Path
) -> None:
    plan = Plan.of("mixed", kafka.bootstrap_servers, {"rate": 50, "leave_every_s": 2})
    create_topics(kafka, plan.topic, plan.target, compacted_topic(plan))
    with ExitStack() as stack:
        mix = [
            stack.enter_context(WorkloadProcess(part, name, tmp_path))
            for name, part in mix_of(plan)
        ]
        harness = tmp_path / "harness.jsonl"
        history = stack.enter_context(HistoryWriter(harness, "harness"))
        stack.enter_context(observing(kafka, history, every_s=0.2))
        for each in mix:
            wait_for_rows(each, OUTPUT[each.plan.kind], 0)
        with kafka.kill(f"leader:{plan.topic}/0") as fault:
            kafka.wait_leader_change(plan.topic, 0, fault, PATIENCE_S)
            for each in mix:
                so_far = len(of_kind(rows_of(each), OUTPUT[each.plan.kind]))
                wait_for_rows(each, OUTPUT[each.plan.kind], so_far)
        for each in mix:
            each.ask_to_end()
        for each in mix:
            each.wait()
        for each in mix:
            check(each, rows_of(each))
    merged = list(read_history(sorted(tmp_path.glob("*.jsonl"))))
    assert [row.at_us for row in merged] == sorted(row.at_us for row in merged)
    moved = {tuple(row.before) for row in of_kind(merged, Kind.SEND) if row.before}
    polled = {
        (row.subject, (row.offset or 0) + at)
        for row in of_kind(merged, Kind.POLLED)
        for at, _ in enumerate(row.values or ())
    }
    assert moved
    assert moved <= polled


def check(process: WorkloadProcess, rows: list[Row]) -> None:
    """It began, ended, and has one answer to each question."""
    assert (rows[0].what, rows[-1].what) == (Kind.BEGAN, Kind.ENDED)
    assert [row.sequence for row in rows] == list(range(1, len(rows) + 1))
    for question, answers in (
        (Kind.SEND, (Kind.ACKED, Kind.REFUSED, Kind.UNKNOWN)),
        (Kind.TRANSACTION_BEGUN, (Kind.TRANSACTION_ENDED,)),
    ):
        asked = [row.sequence for row in of_kind(rows, question)]
        answered = [row.caused_by or 0 for row in of_kind(rows, *answers)]
        assert sorted(asked) == sorted(answered), process.name
    for commit in of_kind(rows, Kind.COMMIT_ANSWERED):
        assert rows[(commit.caused_by or 0) - 1].what == Kind.COMMIT_ASKED
    first = next(numbers(process.plan.ordinal))
    assert [row.value for row in of_kind(rows, Kind.SEND)] == [
        first + count for count in range(len(of_kind(rows, Kind.SEND)))
    ]


def test_a_killed_one_leaves_what_it_did_and_no_end(kafka: Cluster, tmp_path: Path) -> None:
    plan = Plan.of("idempotent", kafka.bootstrap_servers, {"topic": "killed", "keys": 5})
    create_topics(kafka, "killed")
    with WorkloadProcess(plan, "producer-1", tmp_path) as producer:
        wait_for_rows(producer, Kind.ACKED, ENOUGH)
        producer.kill()
        rows = rows_of(producer)
    assert rows[-1].what != Kind.ENDED
    sent, acked = of_kind(rows, Kind.SEND), of_kind(rows, Kind.ACKED)
    assert {row.value for row in acked} <= {row.value for row in sent}
    assert len(acked) < len(sent)  # flat out: something was always under way


def test_a_zombie_is_fenced_by_the_one_that_took_its_place(kafka: Cluster, tmp_path: Path) -> None:
    haunted = Plan.of("transactional", kafka.bootstrap_servers, {"topic": "haunted", "rate": 20})
    plan = replace(haunted, transactional_id="t-1", take_over=False, aborted=0.0)
    create_topics(kafka, "haunted")
    successor = replace(plan, ordinal=1)
    with WorkloadProcess(plan, "zombie", tmp_path) as zombie:
        wait_for_rows(zombie, Kind.TRANSACTION_ENDED, 0)
        with zombie.paused(), WorkloadProcess(successor, "successor", tmp_path) as follower:
            wait_for_rows(follower, Kind.TRANSACTION_ENDED, 0)
            follower.end()
        zombie.wait(PATIENCE_S)
        last = rows_of(zombie)[-1]
    assert (last.what, last.why) == (Kind.ENDED, "_FENCED")


def test_an_observer_tells_what_leaders_and_zookeeper_say(kafka: Cluster, tmp_path: Path) -> None:
    create_topics(kafka, "looked-at")
    plan = Plan.of("idempotent", kafka.bootstrap_servers, {"topic": "looked-at", "count": 50})
    with WorkloadProcess(plan, "producer", tmp_path) as producer:
        producer.wait()
        acked = of_kind(rows_of(producer), Kind.ACKED)
    path = tmp_path / "harness.jsonl"
    history = HistoryWriter(path, "harness")

    with history, observing(kafka, history, every_s=0.1, topics=["looked-at"]):
        wait_for(
            "high watermarks of all that was acked",
            lambda: sum(row.offset or 0 for row in list(read_file(path))[-PARTITIONS:]),
            lambda records: records == len(acked),
        )
        victim = kafka.leader("looked-at", 0)
        with kafka.pause(victim):
            wait_for(
                "look at a partition whose leader is frozen",
                lambda: [row for row in read_file(path) if str(victim) not in log_ends(row)],
            )
    looks = list(read_file(path))
    assert {row.subject for row in looks} == {f"looked-at-{each}" for each in range(PARTITIONS)}
    for row in looks:
        if row.offset is not None and row.after["last_stable"] is not None:
            assert 0 <= row.after["last_stable"] <= row.offset
        isr = row.after["isr"] or ()
        assert all(end >= (row.offset or 0) for id, end in log_ends(row).items() if int(id) in isr)


def log_ends(look: Row) -> dict[str, int]:
    ends: dict[str, int] = look.after["log_ends"]
    return ends


def test_who_does_not_end_says_where_it_stands(tmp_path: Path) -> None:
    plan = Plan.of("member", "127.0.0.1:1", {"group": "nobody's"})
    with WorkloadProcess(plan, "member", tmp_path) as member:
        wait_for_rows(member, Kind.BEGAN, 0)
        with pytest.raises(WorkloadFailed, match="member has not ended after 1 s") as failed:
            member.wait(1)
        assert "members.py" in str(failed.value)
        assert not member.is_running()
