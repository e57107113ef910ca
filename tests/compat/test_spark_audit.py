"""Spark judges a history as the checkers do in one process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.sharing import judge_file
from logquake.chaos.checkers.verdicts import Verdict
from logquake.chaos.history.parquet import write_parquet
from logquake.chaos.history.rows import Kind
from logquake.pipeline.jobs.audit.judging import audit
from logquake.pipeline.jobs.audit.looking import look
from logquake.pipeline.jobs.audit.page import page
from logquake.pipeline.jobs.audit.runs import audited
from logquake.wire.records import ControlType
from tests.chaos.checkers.literals import PRODUCER, READER, Run, rulings_of
from tests.chaos.evidence.written import batch, end, replica
from tests.compat.sparks import SPARKS_WARNINGS

pytestmark = [pytest.mark.slow, *SPARKS_WARNINGS]

PARTITIONS = ("orders-0", "orders-1", "orders-2")
TRANSACTIONS = 40


def history() -> Run:
    """Transactions over three partitions, each made of three inputs; a reader of all."""
    run = Run.empty()
    run.producer()
    fault = run.row(1, "harness", Kind.FAULT_BEGUN, "broker-2", after={"kind": "kill"})
    for transaction in range(TRANSACTIONS):
        _transaction(run, transaction)
    run.row(1000, "harness", Kind.FAULT_ENDED, "broker-2", caused_by=fault)
    run.begin(READER, 60_000, kind="reader", isolation="read_committed")
    for at, partition in enumerate(PARTITIONS):
        run.row(60_000, READER, Kind.ASSIGNED, partition, offset=0)
        for transaction in range(TRANSACTIONS):
            values = (number(transaction, at),)
            offset = 2 * transaction
            run.row(60_001, READER, Kind.POLLED, partition, offset=offset, values=values, epoch=0)
    run.row(60_002, READER, Kind.ENDED, READER)
    return run


def _transaction(run: Run, transaction: int) -> None:
    at_ms = 10 + 10 * transaction
    begun = run.row(at_ms, PRODUCER, Kind.TRANSACTION_BEGUN, "tx")
    for at, partition in enumerate(PARTITIONS):
        mine = number(transaction, at)
        run.send(at_ms, mine, caused_by=begun, subject=partition, before=["input-0", mine])
        run.answer(at_ms + 1, Kind.ACKED, mine, offset=2 * transaction, subject=partition)
    run.row(at_ms + 2, PRODUCER, Kind.TRANSACTION_ENDING, "tx", after="commit", caused_by=begun)
    run.row(at_ms + 3, PRODUCER, Kind.TRANSACTION_ENDED, "tx", after="committed", caused_by=begun)


def number(transaction: int, partition: int) -> int:
    return transaction * len(PARTITIONS) + partition


def logs(root: Path, torn: tuple[int, int] | None = None) -> None:
    """Two replicas of each; of one transaction, in one partition, the marker says abort."""
    for broker in (1, 2):
        data = root / f"broker-{broker}" / "data"
        data.mkdir(parents=True)
        (data / "meta.properties").write_text(f"version=0\nbroker.id={broker}\n")
        for at, partition in enumerate(PARTITIONS):
            content = b"".join(
                batch(2 * each, number(each, at), producer=each)
                + end(2 * each + 1, kind_of(torn == (each, at)), each)
                for each in range(TRANSACTIONS)
            )
            replica(data / partition, content)


def kind_of(is_torn: bool) -> ControlType:
    return ControlType.ABORT if is_torn else ControlType.COMMIT


def doubled(run: Run) -> None:
    """Two outputs, in two partitions, of one input."""
    of_another = ["input-0", number(3, 0)]
    run.rows[:] = [
        row._replace(before=of_another) if row.before and row.value == number(3, 2) else row
        for row in run.rows
    ]


@pytest.mark.parametrize("is_spoilt", [False, True])
def test_the_verdicts_are_those_of_one_process(spark: Any, is_spoilt: bool, tmp_path: Path) -> None:
    run, root, file = history(), tmp_path / "cluster", tmp_path / "history.parquet"
    logs(root, torn=(7, 1) if is_spoilt else None)
    if is_spoilt:
        doubled(run)
    write_parquet(sorted(run.rows), file)
    demands = Demands(acked_under_fault=1, elections=0)
    by_spark = audit(replace(audited(spark, file, root), demands=demands))
    here = judge_file(file, root, demands)
    assert rulings_of(by_spark) == rulings_of(here)
    broken = {each.invariant for each in here.rulings if each.verdict is Verdict.BROKEN}
    assert broken == ({"atomic", "exactly once"} if is_spoilt else set())


def test_what_the_page_shows_is_counted_of_rows_and_of_the_replicas_files(
    spark: Any, tmp_path: Path
) -> None:
    run, root, file = history(), tmp_path / "cluster", tmp_path / "history.parquet"
    logs(root, torn=(7, 1))
    _shorten(root / "broker-2" / "data" / "orders-2")
    handed = {"offset": 4, "values": (number(2, 0), -1)}
    run.row(61_000, READER, Kind.POLLED, "orders-0", epoch=0, **handed)
    for at_ms in (61_001, 61_002, 61_003):  # of nothing, and so of nothing again
        run.row(at_ms, READER, Kind.POLLED, "orders-1", epoch=0, offset=4, values=())
    for at_ms, high_watermark, ends in ((5, 0, (0, 0)), (900, 80, (80, 30))):
        looked = {"leader": 1, "isr": [1, 2], "replicas": [1, 2]}
        looked["log_ends"] = dict(zip("12", ends, strict=True))
        run.row(at_ms, "harness", Kind.OBSERVED, "orders-0", offset=high_watermark, after=looked)
    write_parquet(sorted(run.rows), file)
    audited_run = audited(spark, file, root)
    looks = look(spark, audited_run)
    series = looks.series
    assert sum(bucket.acked for bucket in series.buckets) == TRANSACTIONS * len(PARTITIONS)
    assert [(fault.kind, fault.subject) for fault in series.faults] == [("kill", "broker-2")]
    assert looks.replica_lags["broker 2"][-1][1] == 50
    assert {who: [count for _, count in seen] for who, seen in looks.again.items()} == {READER: [1]}
    assert looks.silences == []
    unlike = {part.partition: part for part in looks.parts if part.alike == 0}
    assert set(unlike) == {"orders-2"}
    assert sum(part.on_some for part in looks.parts) == 1
    assert sum(part.differing + part.damaged for part in looks.parts) == 0
    assert "orders-2" in page("run", audit(audited_run), looks)


def _shorten(folder: Path) -> None:
    """A replica without its last batch, a marker."""
    (log,) = folder.glob("*.log")
    whole = log.read_bytes()
    last = end(2 * TRANSACTIONS - 1, ControlType.COMMIT, TRANSACTIONS - 1)
    log.write_bytes(whole[: -len(last)])
