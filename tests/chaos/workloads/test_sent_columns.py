"""Sends in columns say what rows would."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.history.parquet import read_parquet, rows_of, table_of, write_by_time
from logquake.chaos.history.reader import read_file
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.sending import Record, SendLog, SentRows
from logquake.chaos.workloads.sent_columns import SentColumns


def tell(log: SendLog) -> None:
    """Acked, of unknown outcome, refused, acked without a place, and never answered."""
    records = [Record(each, b"k%d" % (each % 2), b"text", each % 3) for each in range(5)]
    sent = [log.sent(record) for record in records[:3]]
    log.acked(records[0], sent[0], 0, 812)
    log.unknown(records[1], sent[1], "_MSG_TIMED_OUT")
    sent += [log.sent(record) for record in records[3:]]
    log.refused(records[2], sent[2], "_PURGE_QUEUE")
    log.acked(records[3], sent[3], 0, None)


def in_columns() -> SentColumns:
    columns = SentColumns(count(10).__next__)
    tell(columns)
    return columns


def rows(columns: SentColumns) -> list[Row]:
    batches = columns.table("producer", "orders").to_batches()
    return [row for batch in batches for row in rows_of(batch)]


def test_columns_are_the_rows_that_would_have_been_written(tmp_path: Path) -> None:
    path = tmp_path / "producer.jsonl"
    with HistoryWriter(path, "producer", count(9).__next__) as history:
        history.record(Kind.BEGAN, "producer")
        tell(SentRows(history, "orders"))
    assert rows(in_columns()) == list(read_file(path))[1:]


def test_of_none_there_are_none() -> None:
    assert rows(SentColumns()) == []


def test_outcomes_are_known_at_once() -> None:
    columns = in_columns()
    assert (len(columns), columns.acked_count) == (5, 2)
    outcomes = [columns.outcome(each) for each in range(5)]
    assert outcomes == [
        Outcome.ACKED,
        Outcome.UNKNOWN,
        Outcome.REFUSED,
        Outcome.ACKED,
        Outcome.UNKNOWN,
    ]


def test_the_busiest_partition_and_the_longest_silence_of_one() -> None:
    columns = SentColumns(iter((1, 2, 3, 4, 10, 20, 90, 95)).__next__)
    assert (columns.busiest_partition(), columns.longest_silence_us(0)) == (0, 0)
    records = [Record(each, b"", b"", 1 if each else 0) for each in range(4)]
    sent = [columns.sent(record) for record in records]
    for at, record in enumerate(records):
        columns.acked(record, sent[at], 0, at)
    assert columns.busiest_partition() == 1
    assert columns.longest_silence_us(1) == 70


def test_they_and_others_rows_are_one_file_by_time(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    others = [Row(9, "producer", 1, Kind.BEGAN, "producer"), Row(12, "h", 1, "observed", "o-0")]
    columns = in_columns()
    write_by_time((table_of(others), columns.table("producer", "orders")), path)
    found = list(read_parquet(path))
    assert sorted(found, key=lambda row: row.at_us) == found
    assert [row for row in found if row.process == "h"] == others[1:]
    assert [row for row in found if row.process == "producer"] == [others[0], *rows(columns)]
    write_by_time((table_of([]),), path)
    assert list(read_parquet(path)) == []
