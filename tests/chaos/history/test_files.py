"""Rows through files and back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from logquake.chaos.history.lines import from_line, to_line
from logquake.chaos.history.parquet import read_columns, read_parquet, write_parquet
from logquake.chaos.history.reader import HistoryError, journals_in, read_file, read_history
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import HistoryWriter
from logquake.node.journal_events import ISR_PROPOSED
from logquake.node.process.journal_file import JournalFile
from logquake.seams.journal import Event
from tests.waiting import PATIENCE_S

ROWS = [
    Row(1, "producer-1", 1, Kind.BEGAN, "producer-1", after={"kind": "plain", "acks": "all"}),
    Row(2, "producer-1", 2, Kind.SEND, "orders-3", value=7, key="ключ", before=["orders-0", 2]),
    Row(3, "producer-1", 3, Kind.ACKED, "orders-3", value=7, key="ключ", offset=0, caused_by=2),
    Row(4, "member-1", 1, Kind.POLLED, "orders-3", 0, 5, values=[7, -1], group='a "group"'),
    Row(5, "broker-2", 9, "isr-shrunk", "orders-3", 4, before=[1, 2], after=[1], why="it lags"),
]
Clock = Callable[[], int]


def clock(start_us: int = 0, step_us: int = 1) -> Clock:
    return count(start_us, step_us).__next__


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_a_row_is_one_line_of_json_and_comes_back(row: Row) -> None:
    line = to_line(row)
    assert line.count(b"\n") == 1
    assert {name: value for name, value in row._asdict().items() if value is not None} == (
        json.loads(line)
    )
    assert from_line(line) == row


def test_a_writer_counts_its_rows_and_writes_each_at_once(tmp_path: Path) -> None:
    path = tmp_path / "producer-1.jsonl"
    with HistoryWriter(path, "producer-1", clock(100)) as history:
        sent = history.record(Kind.SEND, "orders-3", value=7)
        assert list(read_file(path)) == [Row(100, "producer-1", 1, Kind.SEND, "orders-3", value=7)]
        history.record(Kind.UNKNOWN, "orders-3", value=7, why="_TIMED_OUT", caused_by=sent)
    assert [row.caused_by for row in read_file(path)] == [None, 1]


def test_a_life_does_not_write_into_the_file_of_another(tmp_path: Path) -> None:
    path = tmp_path / "producer-1.jsonl"
    HistoryWriter(path, "producer-1").close()
    with pytest.raises(FileExistsError):
        HistoryWriter(path, "producer-1")


def test_a_file_cut_at_any_byte_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path, whole = tmp_path / "cut.jsonl", b"".join(map(to_line, ROWS))
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert list(read_file(path)) == ROWS[: whole[:size].count(b"\n")]


def test_a_file_that_grows_as_fast_as_it_is_read_has_an_end(tmp_path: Path) -> None:
    path, lines = tmp_path / "growing.jsonl", [to_line(row) for row in ROWS]
    path.write_bytes(b"".join(lines))
    read = []
    for row in read_file(path):
        read.append(row)
        assert len(read) <= len(ROWS)
        with path.open("ab") as file:
            file.write(lines[0] * 2)
    assert read == ROWS


def test_a_line_in_the_middle_that_is_none_is_an_error_that_says_where(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(to_line(ROWS[0]) + b"{}}\n" + to_line(ROWS[1]))
    with pytest.raises(HistoryError, match=r"odd.jsonl, line 2: "):
        list(read_file(path))


def test_files_are_merged_by_time_and_each_keeps_its_order(tmp_path: Path) -> None:
    for name, start_us, step_us in ("a", 10, 4), ("b", 11, 1), ("c", 12, -5):
        with HistoryWriter(tmp_path / f"{name}.jsonl", name, clock(start_us, step_us)) as history:
            for _ in range(3):
                history.record(Kind.OBSERVED, "orders-3")
    merged = list(read_history(sorted(tmp_path.glob("*.jsonl"))))
    assert [(row.process, row.sequence) for row in merged[:3]] == [("a", 1), ("b", 1), ("b", 2)]
    for name in "abc":
        assert [row.sequence for row in merged if row.process == name] == [1, 2, 3]


def test_rows_at_the_same_moment_of_processes_that_tell_different_things_are_merged(
    tmp_path: Path,
) -> None:
    for name, after in ("a", {"leader": 1}), ("b", [1, 2]):
        with HistoryWriter(tmp_path / f"{name}.jsonl", name, clock(5, 0)) as history:
            history.record(Kind.OBSERVED, "orders-3", after=after)
    assert [row.process for row in read_history(sorted(tmp_path.glob("*.jsonl")))] == ["a", "b"]


def test_what_a_broker_put_aside_of_its_journal_is_read_too(tmp_path: Path) -> None:
    for name, at_ms in ("broker-2.jsonl", 9), ("broker-2.jsonl.1", 5), ("broker-1.jsonl", 7):
        line = f'{{"time_ms":{at_ms},"sequence":1,"broker":2,"what":"ready","subject":"broker"}}\n'
        (tmp_path / name).write_text(line)
    assert [row.at_us for row in read_history(journals_in(tmp_path))] == [5_000, 7_000, 9_000]
    assert len(journals_in(tmp_path, "broker-2")) == 2


def test_a_brokers_journal_has_the_same_rows(tmp_path: Path) -> None:
    path = tmp_path / "broker-2.jsonl"
    journal = JournalFile(
        path, 2, wall_ms=lambda: 1_500, flush_later=lambda _: None, max_bytes=1 << 20
    )
    journal.record(Event(ISR_PROPOSED, "orders-3", "broker 3 lags", [1, 2, 3], [1, 2], epoch=4))
    journal.close()
    assert list(read_history([path])) == [
        Row(
            1_500_000,
            "broker-2",
            1,
            "isr-proposed",
            "orders-3",
            epoch=4,
            before=[1, 2, 3],
            after=[1, 2],
            why="broker 3 lags",
        )
    ]


def test_parquet_has_the_same_rows_in_the_same_order(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    assert write_parquet(iter(ROWS), path) == len(ROWS)
    assert list(read_parquet(path)) == ROWS
    assert list(tmp_path.iterdir()) == [path]


def test_parquet_without_rows_is_a_file_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    assert write_parquet(iter([]), path) == 0
    assert list(read_parquet(path)) == []


def test_columns_are_read_without_the_others(tmp_path: Path) -> None:
    path = tmp_path / "history.parquet"
    write_parquet(iter(ROWS), path)
    (batch,) = read_columns(path, ["subject", "offset"])
    assert batch.schema.names == ["subject", "offset"]
    assert batch.column("offset").to_pylist() == [row.offset for row in ROWS]
    assert batch.column("subject").to_pylist() == [row.subject for row in ROWS]


def test_the_command_prints_rows_by_time_or_keeps_them_as_parquet(tmp_path: Path) -> None:
    for name, rows in ("producer-1", ROWS[:3]), ("others", ROWS[3:]):
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(map(to_line, rows)))
    files = [str(path) for path in sorted(tmp_path.glob("*.jsonl"))]
    assert run(*files) == (0, b"".join(map(to_line, ROWS)))
    parquet = tmp_path / "history.parquet"
    assert run(*files, "--parquet", str(parquet)) == (0, f"5 rows in {parquet}\n".encode())
    assert list(read_parquet(parquet)) == ROWS
    assert run(str(tmp_path / "nothing"))[0] == 2


def run(*arguments: str) -> tuple[int, bytes]:
    command = [sys.executable, "-m", "logquake.chaos.history", *arguments]
    ran = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    return ran.returncode, ran.stdout
