"""Rows counted while they are written."""

from __future__ import annotations

from pathlib import Path

from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.runs.tally import Tally
from logquake.chaos.scenarios.patterns import RowPattern

JOURNAL_LINE = (
    b'{"time_ms": 5, "sequence": 1, "broker": 2, "what": "leader-elected", "subject": "orders-0", '
    b'"epoch": 3, "before": null, "after": 1, "why": "", "caused_by": null}\n'
)


def test_lines_are_counted_once_and_half_a_line_later(tmp_path: Path) -> None:
    path = tmp_path / "producer.jsonl"
    tally = Tally(lambda: [path])
    with HistoryWriter(path, "producer", lambda: 1) as history:
        history.record(Kind.SEND, "orders-0", value=1)
        tally.poll()
        history.record(Kind.ACKED, "orders-0", value=1)
        tally.poll()
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:20])
    tally.poll()
    path.write_bytes(whole + whole)
    tally.poll()
    assert tally.counts == {Kind.SEND: 2, Kind.ACKED: 2}


def test_a_journal_that_is_begun_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "broker-2.jsonl"
    tally = Tally(lambda: [path])
    path.write_bytes(JOURNAL_LINE * 2)
    tally.poll()
    path.replace(tmp_path / "broker-2.jsonl.1")
    path.write_bytes(JOURNAL_LINE)
    tally.poll()
    assert tally.counts == {"leader-elected": 3}


def test_a_watch_counts_what_comes_after_it(tmp_path: Path) -> None:
    path = tmp_path / "producer.jsonl"
    now_us = 5_000
    tally = Tally(lambda: [path], now_us=lambda: now_us)
    with HistoryWriter(path, "producer", lambda: now_us) as history:
        history.record(Kind.UNKNOWN, "orders-0", why="TIMED_OUT")
        tally.poll()
        history.record(Kind.UNKNOWN, "orders-0", why="TIMED_OUT")
        now_us = 6_500
        watch = tally.watch(RowPattern(what=Kind.UNKNOWN, why="TIMED_OUT"), 2)
        history.record(Kind.UNKNOWN, "orders-0", why="TIMED_OUT")
        history.record(Kind.UNKNOWN, "orders-0", why="NETWORK")
        tally.poll()
        assert (watch.seen, watch.satisfied.is_set()) == (1, False)
        history.record(Kind.UNKNOWN, "orders-1", why="TIMED_OUT")
        tally.poll()
        assert watch.satisfied.is_set()
        tally.forget(watch)


def test_what_is_rare_is_told(tmp_path: Path) -> None:
    path = tmp_path / "broker-2.jsonl"
    path.write_bytes(JOURNAL_LINE)
    told: list[Row] = []
    Tally(lambda: [path], told.extend).poll()
    assert [(one.process, one.what, one.epoch) for one in told] == [
        ("broker-2", "leader-elected", 3)
    ]
