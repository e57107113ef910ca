"""Workloads over Kafka's own client, beside those over librdkafka: one history, judged as one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from logquake.chaos.checkers import Judgement, Verdict
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.observer import observing
from logquake.chaos.workloads.java_program import JavaProgram, java_program
from logquake.chaos.workloads.plan import ClientLibrary
from logquake.chaos.workloads.processes import WorkloadProcess
from logquake.cluster.api import Cluster
from tests.compat.kafka_programs import COMPILER
from tests.lab import Lab, wait_for_acks
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [
    pytest.mark.maven,
    pytest.mark.slow,
    pytest.mark.usefixtures("kafka_programs"),  # which skips, where there is no Kafka
]

FATES = Path(__file__).with_name("java") / "workloads" / "Fates.java"
JAVA, CONFLUENT = ClientLibrary.JAVA, ClientLibrary.CONFLUENT
PARTITIONS = 2
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "idempotent": {},
    "compacted": {"topic": "compacted"},
    "transactional": {},
    "mover": {"group": "movers"},
    "member": {"leave_every_s": 2},
    "reader": {},
}
# What each is sure to write, however the run goes.
SENDS = {Kind.SEND, Kind.ACKED}
TRANSACTIONS = {Kind.TRANSACTION_BEGUN, Kind.TRANSACTION_ENDING, Kind.TRANSACTION_ENDED}
READS = {Kind.ASSIGNED, Kind.POLLED}
WRITTEN: Mapping[str, set[Kind]] = {
    "plain": SENDS,
    "idempotent": SENDS,
    "compacted": SENDS,
    "transactional": SENDS | TRANSACTIONS,
    "mover": SENDS | TRANSACTIONS | READS | {Kind.COMMIT_ASKED},
    "member": READS | {Kind.REVOKED, Kind.COMMIT_ASKED, Kind.COMMIT_ANSWERED},
    "reader": READS,
}


@dataclass(frozen=True)
class Told:
    rows: Mapping[tuple[ClientLibrary, str], list[Row]]
    judgement: Judgement


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(brokers=3, data_dir=tmp_path_factory.mktemp("java") / "cluster") as kafka:
        for topic in ("orders", "moved", "compacted", "haunted"):
            kafka.create_topic(topic, partitions=PARTITIONS, config={"min.insync.replicas": 2})
        yield kafka


@pytest.fixture(scope="module")
def told(kafka: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """By every kind over both clients, which share groups and topics while a leader is killed."""
    with ExitStack() as stack:
        lab = Lab(kafka, tmp_path_factory.mktemp("told") / "rows", stack)
        programs = {
            (client, kind): lab.start(kind, client=client, rate=50, **options)
            for client in (JAVA, CONFLUENT)
            for kind, options in OPTIONS.items()
        }
        producers = [one for (_, kind), one in programs.items() if Kind.ACKED in WRITTEN[kind]]
        with observing(kafka, lab.harness, every_s=0.2):
            for each in producers:
                wait_for_acks(each, 20)
            begun = lab.harness.record(Kind.FAULT_BEGUN, "leader", after={"kind": "kill"})
            with kafka.kill("leader:orders/0") as fault:
                kafka.wait_leader_change("orders", 0, fault, PATIENCE_S)
                for each in producers:
                    wait_for_acks(each, 20)
            lab.harness.record(Kind.FAULT_ENDED, "leader", caused_by=begun)
            for (_, kind), one in programs.items():
                wait_until_written(one, WRITTEN[kind])
            for one in programs.values():
                one.ask_to_end()
            for one in programs.values():
                one.wait()
            for topic in ("orders", "moved", "compacted"):
                for partition in range(PARTITIONS):
                    kafka.wait_isr(topic, partition, 3, PATIENCE_S)
            lab.read_all("orders")
        rows = {name: list(one.rows()) for name, one in programs.items()}
        return Told(rows, lab.judge())


def wait_until_written(program: WorkloadProcess, kinds: set[Kind]) -> None:
    wait_for(
        f"all that {program.name} writes",
        lambda: {row.what for row in program.rows()},
        lambda written: written >= kinds,
        timeout_s=PATIENCE_S,
    )


def test_a_run_of_both_clients_holds(told: Told) -> None:
    assert told.judgement.verdict is Verdict.HOLDS, str(told.judgement)


@pytest.mark.parametrize("kind", OPTIONS)
def test_both_clients_tell_the_same(told: Told, kind: str) -> None:
    javas, librdkafkas = told.rows[JAVA, kind], told.rows[CONFLUENT, kind]
    assert javas[0].after.keys() == librdkafkas[0].after.keys()
    java, librdkafka = _fields(javas), _fields(librdkafkas)
    for what in java.keys() & librdkafka.keys():
        assert java[what] == librdkafka[what], what


@pytest.mark.parametrize("kind", OPTIONS)
def test_java_answers_each_question_once(told: Told, kind: str) -> None:
    rows = told.rows[JAVA, kind]
    assert (rows[0].what, rows[-1].what) == (Kind.BEGAN, Kind.ENDED)
    assert [row.sequence for row in rows] == list(range(1, len(rows) + 1))
    for question, answers in (
        (Kind.SEND, {Kind.ACKED, Kind.REFUSED, Kind.UNKNOWN}),
        (Kind.TRANSACTION_BEGUN, {Kind.TRANSACTION_ENDED}),
    ):
        asked = [row.sequence for row in rows if row.what == question]
        assert asked == sorted(row.caused_by or 0 for row in rows if row.what in answers)
    answered = {row.caused_by for row in rows if row.what == Kind.COMMIT_ANSWERED}
    assert answered <= {row.sequence for row in rows if row.what == Kind.COMMIT_ASKED}


def _fields(rows: list[Row]) -> dict[str, set[str]]:
    """Those that every row of a kind has."""
    fields: dict[str, set[str]] = {}
    for row in rows:
        has = {name for name, value in row._asdict().items() if value is not None}
        fields[row.what] = fields.get(row.what, has) & has
    return fields


def test_a_java_zombie_is_fenced_by_the_one_that_took_its_place(
    kafka: Cluster, tmp_path: Path
) -> None:
    one = {"topic": "haunted", "transactional_id": "t-1", "take_over": False, "aborted": 0}
    with ExitStack() as stack:
        lab = Lab(kafka, tmp_path / "rows", stack)
        zombie = lab.start("transactional", client=JAVA, **one)
        wait_for_acks(zombie, 1)
        with zombie.paused():
            successor = lab.start("transactional", **one)
            wait_for_acks(successor, 1)
            successor.end()
        zombie.wait(PATIENCE_S)
        *_, last = zombie.rows()
    # What it was about to send says how it is told: a coordinator's words, or a partition's.
    assert last.what == Kind.ENDED
    assert last.why in ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")


def test_an_error_says_of_a_send_or_a_commit_what_it_says_over_librdkafka(tmp_path: Path) -> None:
    printed = _run(_with_fates(java_program(), tmp_path).jvm(), "Fates")
    *lines, quoted = printed.splitlines()
    assert lines == [
        "REQUEST_TIMED_OUT unknown unknown unknown",
        "DisconnectException unknown unknown unknown",
        "NETWORK_EXCEPTION unknown unknown unknown",
        "NOT_LEADER_OR_FOLLOWER unknown unknown unknown",
        "NOT_ENOUGH_REPLICAS unknown refused unknown",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND unknown unknown unknown",
        "UNKNOWN_PRODUCER_ID unknown unknown unknown",
        "PRODUCER_FENCED unknown unknown unknown",
        "KafkaException unknown unknown unknown",
        "MESSAGE_TOO_LARGE refused refused unknown",
        "TransactionAbortedException refused refused unknown",
        "MESSAGE_TOO_LARGE unknown unknown unknown",
        "CommitFailedException unknown unknown refused",
        "REBALANCE_IN_PROGRESS unknown unknown refused",
        "FENCED_INSTANCE_ID unknown unknown refused",
    ]
    assert json.loads(quoted) == '"quoted" \\ gr\u00fc\u00df\x7f\n\U0001f41f'


def _with_fates(program: JavaProgram, folder: Path) -> JavaProgram:
    class_path = ":".join(map(str, program.jars))
    _run(program.jvm(), COMPILER, "-cp", class_path, "-d", str(folder), str(FATES))
    return replace(program, jars=(folder, *program.jars))


def _run(jvm: list[str], *arguments: str) -> str:
    done = subprocess.run(
        [*jvm, *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
