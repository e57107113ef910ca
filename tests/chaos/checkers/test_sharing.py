"""Partition by partition the same is found as in all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.judging import judge
from logquake.chaos.checkers.sharing import judge_file, judge_history, shares_of
from logquake.chaos.checkers.verdicts import Judgement, Verdict
from logquake.chaos.evidence.clients import Share
from logquake.chaos.evidence.evidence import Evidence
from logquake.chaos.evidence.shares import cut, partition_sizes
from logquake.chaos.evidence.stored import StoredLog
from logquake.chaos.history.parquet import write_parquet
from logquake.chaos.history.rows import Kind
from logquake.wire.records import ControlType
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.operations import Create
from logquake.zk.znodes.topics import PartitionState, TopicAssignment
from tests.chaos.checkers.literals import (
    PRODUCER,
    READER,
    Batch,
    P,
    Run,
    cluster,
    log,
    marker,
    rulings_of,
    state,
)

FEW = Demands(acked_under_fault=1, elections=0)
OTHER = "orders-1"
PARTITIONS = (P, OTHER)
OFFSETS = TopicPartition("__consumer_offsets", 0)


def spanning() -> Run:
    """A transaction over two partitions, made of two records; a reader of both; a fault."""
    run = cluster()
    fault = run.row(5, "harness", Kind.FAULT_BEGUN, "broker-2", after={"kind": "kill"})
    begun = run.row(10, PRODUCER, Kind.TRANSACTION_BEGUN, "tx")
    for number, partition in enumerate(PARTITIONS, 100):
        run.send(11, number, caused_by=begun, subject=partition, before=["input-0", number])
        run.answer(12, Kind.ACKED, number, offset=0, subject=partition)
    run.row(13, PRODUCER, Kind.TRANSACTION_ENDING, "tx", after="commit", caused_by=begun)
    run.row(14, PRODUCER, Kind.TRANSACTION_ENDED, "tx", after="committed", caused_by=begun)
    run.row(20, "harness", Kind.FAULT_ENDED, "broker-2", caused_by=fault)
    run.begin(READER, 60_000, kind="reader", isolation="read_committed")
    for number, partition in enumerate(PARTITIONS, 100):
        run.row(60_000, READER, Kind.ASSIGNED, partition, offset=0)
        run.row(60_001, READER, Kind.POLLED, partition, offset=0, values=(number,), epoch=0)
    run.row(60_002, READER, Kind.ENDED, READER)
    for number, partition in enumerate(PARTITIONS, 100):
        run.keep(*stored(number, ControlType.COMMIT), partition=partition)
    return run


def stored(number: int, kind: ControlType) -> list[StoredLog]:
    written = Batch(0, (number,), producer=(7, 0, 0), transactional=True)
    return [log(broker, written, marker(1, kind, (7, 0))) for broker in (1, 2)]


def whole(run: Run) -> None:
    """Nothing is wrong."""


def torn(run: Run) -> None:
    run.keep(*stored(101, ControlType.ABORT), partition=OTHER)


def doubled(run: Run) -> None:
    """One input yields two outputs, in two partitions."""
    run.rows[:] = [
        row._replace(before=["input-0", 100]) if row.value == 101 and row.before else row
        for row in run.rows
    ]


def lost(run: Run) -> None:
    run.keep(log(1), log(2), partition=OTHER)


def uncommitted(run: Run) -> None:
    """A group owns a partition twice."""
    for member in ("member-1", "member-2"):
        run.row(30, member, Kind.ASSIGNED, P, group="g", epoch=1)


def taken_back(run: Run) -> None:
    """A group begins below what it had committed; another partition keeps what it commits."""
    run.row(30, "member-1", Kind.ASSIGNED, OTHER, group="g", epoch=1, offset=0)
    asked = run.row(31, "member-1", Kind.COMMIT_ASKED, OTHER, group="g", epoch=1, offset=1)
    kept = {"group": "g", "offset": 1, "after": "kept", "caused_by": asked}
    run.row(32, "member-1", Kind.COMMIT_ANSWERED, OTHER, **kept)
    run.row(33, "member-2", Kind.ASSIGNED, OTHER, group="g", epoch=2, offset=0)
    unread(run)


def unread(run: Run) -> None:
    """A partition that nobody has a log of, nor anything to do with, has no leader."""
    assignment = TopicAssignment(None, {0: (1, 2)})
    run.write(40, Create(TopicAssignment.path(OFFSETS.topic), assignment.encode()))
    run.write(40, Create(PartitionState.path(*OFFSETS), state(NO_LEADER, 0, (1, 2)).encode()))


@pytest.mark.parametrize("spoil", [whole, torn, doubled, lost, uncommitted, taken_back, unread])
def test_shares_are_judged_as_the_whole(spoil: Callable[[Run], None], tmp_path: Path) -> None:
    run = spanning()
    spoil(run)
    in_shares, at_once = judged_in_shares(run, tmp_path), judge(run.evidence(), FEW)
    assert rulings_of(in_shares) == rulings_of(at_once)
    assert at_once.verdict is (Verdict.HOLDS if spoil is whole else Verdict.BROKEN)


def judged_in_shares(run: Run, folder: Path) -> Judgement:
    history = folder / "history.parquet"
    write_parquet(run.rows, history)
    others = run.case().all_states
    shares = shares_of(history, others, most_rows=1)
    assert sorted(map(sorted, shares)) == [[each] for each in sorted({*others, P, OTHER})]

    def evidence(columns: Iterable[pa.RecordBatch], share: Share | None) -> Evidence:
        logs = {each: log for each, log in run.logs.items() if share is None or each in share}
        return replace(run.evidence(), rows=(), columns=columns, logs=logs, share=share)

    return judge_history(history, evidence, shares, FEW)


def test_a_file_alone_is_judged_by_what_clients_saw(tmp_path: Path) -> None:
    history = tmp_path / "history.parquet"
    run = spanning()
    run.row(60_003, "reader-9", Kind.POLLED, P, offset=0, values=(101,), epoch=0)
    write_parquet(run.rows, history)
    found = judge_file(history, rows_of_a_share=1).violations
    assert [each.invariant for each in found] == ["one value"]


def test_a_share_has_as_many_rows_as_it_may(tmp_path: Path) -> None:
    history = tmp_path / "history.parquet"
    write_parquet(spanning().rows, history)
    sizes = partition_sizes(history)
    assert sizes == {P: 4, OTHER: 4}
    sizes.update({"orders-2": 7, "orders-3": 1})
    shares = [sorted(share) for share in cut(sizes, 8)]
    assert shares == [["orders-2"], [P, OTHER], ["orders-3"]]
