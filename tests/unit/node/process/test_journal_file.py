"""Events as lines of a file: numbered, bounded, and no reason for a broker to stop."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from logquake.node.process.journal_file import JournalFile
from logquake.seams.journal import Event, EventKind

NewJournal = Callable[..., JournalFile]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "broker-1.jsonl"


@pytest.fixture
def flushes() -> list[Callable[[], None]]:
    return []


@pytest.fixture
def new_journal(path: Path, flushes: list[Callable[[], None]]) -> Iterator[NewJournal]:
    journals: list[JournalFile] = []

    def make(max_bytes: int = 1 << 20) -> JournalFile:
        journals.append(
            JournalFile(
                path, 1, wall_ms=lambda: 1_700, flush_later=flushes.append, max_bytes=max_bytes
            )
        )
        return journals[-1]

    yield make
    for journal in journals:
        journal.close()


def kind(name: str) -> EventKind:
    return EventKind(name, cause="", remedy="")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_event_is_a_line(path: Path, new_journal: NewJournal) -> None:
    journal = new_journal()
    cause = journal.record(Event(kind("isr-shrank"), "t-0", "broker 2 lags", [1, 2], [1], epoch=3))
    journal.record(Event(kind("high-watermark"), "t-0", "the ISR shrank", caused_by=cause))
    journal.flush()
    assert lines(path) == [
        {
            "time_ms": 1_700,
            "sequence": 1,
            "broker": 1,
            "what": "isr-shrank",
            "subject": "t-0",
            "epoch": 3,
            "before": [1, 2],
            "after": [1],
            "why": "broker 2 lags",
        },
        {
            "time_ms": 1_700,
            "sequence": 2,
            "broker": 1,
            "what": "high-watermark",
            "subject": "t-0",
            "why": "the ISR shrank",
            "caused_by": 1,
        },
    ]


def test_lines_are_written_together_once_a_pass(
    path: Path, new_journal: NewJournal, flushes: list[Callable[[], None]]
) -> None:
    journal = new_journal()
    for _ in range(3):
        journal.record(Event(kind("a"), "b", "c"))
    assert path.read_text() == ""
    [flush] = flushes
    flush()
    assert len(lines(path)) == 3
    journal.record(Event(kind("a"), "b", "c"))
    assert len(flushes) == 2


def test_numbers_go_on_where_the_last_process_ended(path: Path, new_journal: NewJournal) -> None:
    path.write_text('{"sequence": 41, "what": "x"}\n{"sequence": 42, "wh')
    assert new_journal().record(Event(kind("a"), "b", "c")) == 42


def test_a_line_that_was_cut_off_does_not_spoil_the_next(
    path: Path, new_journal: NewJournal
) -> None:
    path.write_text('{"sequence": 41, "what": "x"}\n{"sequence": 42, "wh')
    journal = new_journal()
    journal.record(Event(kind("a"), "b", "c"))
    journal.flush()
    assert [line["sequence"] for line in lines(path)] == [41, 42]


def test_the_file_is_bounded_and_one_older_is_kept(path: Path, new_journal: NewJournal) -> None:
    journal = new_journal(max_bytes=1_000)
    for _ in range(100):
        journal.record(Event(kind("what"), "subject", "why"))
        journal.flush()
    older = path.with_name("broker-1.jsonl.1")
    assert path.stat().st_size <= 1_000
    assert older.stat().st_size <= 1_000
    numbers = [line["sequence"] for line in lines(older) + lines(path)]
    assert numbers == list(range(numbers[0], 101))
    path.write_text("")
    assert new_journal().record(Event(kind("a"), "b", "c")) == lines(older)[-1]["sequence"] + 1


def test_a_disk_that_refuses_lines_leaves_a_gap_that_is_told(
    path: Path, new_journal: NewJournal
) -> None:
    journal = new_journal()
    journal.record(Event(kind("before"), "s", "w"))
    journal.flush()
    with file_size_limit(path.stat().st_size + 20):
        journal.record(Event(kind("lost"), "s", "w"))
        journal.flush()
    journal.record(Event(kind("after"), "s", "w"))
    journal.flush()
    assert [line["what"] for line in lines(path)] == ["before", "after", "journal-gap"]
    assert lines(path)[2]["why"] == "1 events could not be written"


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """The system refuses to let any file grow beyond so many bytes: EFBIG, as a full disk would."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        JournalFile(
            tmp_path / "none" / "events",
            1,
            wall_ms=lambda: 0,
            flush_later=lambda _: None,
            max_bytes=1 << 20,
        )
    assert os.listdir(tmp_path) == []
