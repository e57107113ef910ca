"""Rows become the same columns, one by one or a group of a Parquet file at once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from logquake.chaos.evidence.clients import Clients, Names, Polls, Sends
from logquake.chaos.evidence.gathering import gather, gather_columns
from logquake.chaos.history.parquet import read_columns, write_parquet
from logquake.chaos.history.rows import Kind, Row
from tests.chaos.checkers.literals import PRODUCER, READER, P, Run, cluster


def everything() -> Run:
    run = cluster()
    run.acked(10, 10, 0)
    run.send(11, 11, key="a", after="tombstone")
    run.answer(12, Kind.UNKNOWN, 11, why="_TIMED_OUT")
    run.send(13, 12, before=["input-0", 7])
    run.answer(14, Kind.REFUSED, 12, why="MSG_SIZE_TOO_LARGE")
    run.send(15, 13, subject="orders-1")
    run.transaction(20, {20: 3, 21: 4}, asked="abort", outcome="aborted")
    run.reader(50, 10, -1, 11)
    run.look(60, 5, isr=[1, 2])
    asked = run.row(70, READER, Kind.COMMIT_ASKED, P, group="g", offset=3, epoch=1)
    run.row(71, READER, Kind.COMMIT_ANSWERED, P, group="g", offset=3, after="kept", caused_by=asked)
    run.row(72, READER, Kind.REVOKED, P, group="g", epoch=1, after="lost")
    begun = run.row(80, "harness", Kind.FAULT_BEGUN, "broker-1", after={"kind": "kill"})
    run.row(81, "harness", Kind.FAULT_ENDED, "broker-1", caused_by=begun)
    return run


def test_sends_are_joined_with_their_answers() -> None:
    sends = gather(everything().rows).sends
    assert sends.number.tolist() == [10, 11, 12, 13, 20, 21]
    assert sends.outcome.tolist() == [1, 0, 2, 0, 1, 1]
    assert sends.offset.tolist() == [0, -1, -1, -1, 3, 4]
    assert sends.answered_us.tolist() == [10_000, 12_000, 14_000, -1, 21_000, 21_000]
    assert sends.transaction.tolist() == [-1, -1, -1, -1, 0, 0]
    assert sends.find(np.array([12, 99])).tolist() == [2, -1]


def test_runs_of_records_are_spread() -> None:
    polls = gather(everything().rows).polls
    assert (polls.offset.tolist(), polls.value.tolist()) == ([0, 1, 2], [10, -1, 11])
    assert polls.assignment.tolist() == [0, 0, 0]


def test_columns_say_the_same_as_rows(tmp_path: Path) -> None:
    rows = everything().rows
    write_parquet(rows, tmp_path / "history.parquet")
    assert plain(gather_columns(read_columns(tmp_path / "history.parquet"))) == plain(gather(rows))


def test_an_empty_history(tmp_path: Path) -> None:
    nothing: list[Row] = []
    write_parquet(nothing, tmp_path / "history.parquet")
    assert plain(gather_columns(read_columns(tmp_path / "history.parquet"))) == plain(
        gather(nothing)
    )


def plain(clients: Clients) -> dict[str, Any]:
    """Comparable: names in the place of their numbers."""
    found: dict[str, Any] = {}
    for each in fields(clients):
        value = getattr(clients, each.name)
        if isinstance(value, (Sends, Polls)):
            found[each.name] = {
                column.name: _named(clients, column.name, getattr(value, column.name).tolist())
                for column in fields(value)
            }
        elif isinstance(value, Names):
            found[each.name] = sorted(value.all)
        else:
            found[each.name] = value
    return found


def _named(clients: Clients, name: str, numbers: list[int]) -> list[int] | list[str]:
    names = {
        "process": clients.processes,
        "partition": clients.partitions,
        "key": clients.keys,
    }.get(name)
    return numbers if names is None else [names[n] if n >= 0 else "" for n in numbers]


def test_the_process_is_known_by_its_name() -> None:
    assert PRODUCER in gather(everything().rows).processes.all
