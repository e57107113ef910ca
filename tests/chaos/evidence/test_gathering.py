"""Rows become the same columns, whatever they come from, and in whatever order."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from logquake.chaos.evidence.clients import Clients, Polls, Sends
from logquake.chaos.evidence.gathering import gather, gather_columns
from logquake.chaos.history.line_columns import read_line_columns
from logquake.chaos.history.lines import to_line
from logquake.chaos.history.parquet import read_columns, write_parquet
from logquake.chaos.history.reader import HistoryError
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
    assert sends.number.tolist() == [10, 11, 12, 20, 21, 13]
    assert sends.bounds.tolist() == [0, 0, 5, 6]  # the first is what number 12 was made of
    assert sends.outcome.tolist() == [1, 0, 2, 1, 1, 0]
    assert sends.offset.tolist() == [0, -1, -1, 3, 4, -1]
    assert sends.answered_us.tolist() == [10_000, 12_000, 14_000, 21_000, 21_000, -1]
    assert sends.transaction.tolist() == [-1, -1, -1, 0, 0, -1]
    assert sends.source_offset.tolist() == [-1, -1, 7, -1, -1, -1]
    assert sends.is_tombstone.tolist() == [False, True, False, False, False, False]
    assert sends.find(1, np.array([12, 13, 99])).tolist() == [2, -1, -1]
    assert sends.find(2, np.array([12, 13, 99])).tolist() == [-1, 5, -1]


def test_runs_of_records_are_spread() -> None:
    run = everything()
    run.poll(51, 3, 20, 21)
    polls = gather(run.rows).polls
    assert (polls.offset.tolist(), polls.last.tolist()) == ([0, 3], [2, 4])
    assert polls.assignment.tolist() == [0, 0]
    for runs in ([0], [1], [1, 0]):
        read = polls.spread(np.array(runs))
        of_runs = [((0, 10, 0), (1, -1, 0), (2, 11, 0)), ((3, 20, 1), (4, 21, 1))]
        expected = [record for each in runs for record in of_runs[each]]
        assert np.column_stack(read).tolist() == [list(record) for record in expected]


def test_a_file_of_columns_says_the_same_as_rows(tmp_path: Path) -> None:
    rows = everything().rows
    write_parquet(rows, tmp_path / "history.parquet")
    assert plain(gather_columns(read_columns(tmp_path / "history.parquet"))) == plain(gather(rows))


def test_files_of_lines_say_the_same_as_rows(tmp_path: Path) -> None:
    rows = everything().rows
    for row in rows:
        with (tmp_path / f"{row.process}.jsonl").open("ab") as file:
            file.write(to_line(row))
    with (tmp_path / f"{READER}.jsonl").open("ab") as file:
        file.write(b'{"at_us":1,"process"')  # it was killed
    files = sorted(tmp_path.iterdir(), reverse=True)
    assert plain(gather_columns(read_line_columns(files))) == plain(gather(rows))


@pytest.mark.parametrize("line", [b"\n", b"nonsense\n", b'{"at_us":1}\n'])
def test_a_line_that_nobody_can_have_written(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "producer-1.jsonl"
    path.write_bytes(to_line(everything().rows[0]) + line + to_line(everything().rows[1]))
    with pytest.raises(HistoryError, match=r"producer-1\.jsonl"):
        list(read_line_columns([path]))


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_says_nothing(seed: int) -> None:
    rows = everything().rows
    mixed = Random(seed).sample(rows, len(rows))
    assert plain(gather(mixed)) == plain(gather(rows))


def test_an_empty_history(tmp_path: Path) -> None:
    nothing: list[Row] = []
    write_parquet(nothing, tmp_path / "history.parquet")
    assert plain(gather_columns(read_columns(tmp_path / "history.parquet"))) == plain(
        gather(nothing)
    )


def plain(clients: Clients) -> dict[str, Any]:
    """Comparable: names in the place of their numbers, which are those of the order of meeting."""
    found = {each.name: getattr(clients, each.name) for each in fields(clients)}
    for name in ("processes", "partitions", "keys"):
        found[name] = sorted(found[name].all)
    polls = clients.polls
    return found | {
        "sends": sorted(_elements(clients, clients.sends, "bounds")),
        "polls": sorted(
            (*of_run, *polls.spread(np.array([at])).value.tolist())
            for at, of_run in enumerate(_elements(clients, polls, "begin", "values"))
        ),
    }


def _elements(clients: Clients, columns: Sends | Polls, *left_out: str) -> list[tuple[Any, ...]]:
    told = [
        _named(clients, each.name, getattr(columns, each.name).tolist())
        for each in fields(columns)
        if each.name not in left_out
    ]
    return list(zip(*told, strict=True))


def _named(clients: Clients, name: str, numbers: list[int]) -> list[int] | list[str]:
    names = {
        "process": clients.processes,
        "partition": clients.partitions,
        "source": clients.partitions,
        "key": clients.keys,
    }.get(name)
    return numbers if names is None else [names[n] if n >= 0 else "" for n in numbers]


def test_the_process_is_known_by_its_name() -> None:
    assert PRODUCER in gather(everything().rows).processes.all
