"""The descriptors of segments are bounded, and nobody who reads notices."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log.opening import OpeningTerms
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.open_files import OpenFiles
from logquake.wire.records import Record, encode_batch

SEGMENTS = 12


def batch() -> memoryview:
    return memoryview(encode_batch([Record(0, 1_000, None, b"v" * 10, ())]))


@pytest.fixture
def open_files() -> OpenFiles:
    return OpenFiles(3)


@pytest.fixture
def log(tmp_path: Path, open_files: OpenFiles) -> Iterator[Log]:
    """A segment for each of its offsets, on a real disk."""
    config = LogConfig(segment_bytes=len(batch()))
    log = Log.open(RealDisk(), str(tmp_path / "t-0"), config, terms=OpeningTerms(open_files))
    for _ in range(SEGMENTS):
        log.stage_as_leader(batch(), 0, 0)
    log.commit()
    yield log
    log.close(clean=False)


def descriptors(log: Log) -> list[str]:
    """Names of the log's files that this process has open."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:
            continue  # that of the listing itself
        if target.startswith(log.directory):
            found.append(target)
    return found


def test_a_log_of_many_segments_keeps_few_descriptors(log: Log) -> None:
    for offset in range(SEGMENTS):
        assert log.read(offset, 1, up_to=SEGMENTS).first_offset == offset
    assert len(descriptors(log)) <= 3


def test_a_slice_reads_on_when_its_segment_has_let_go(log: Log) -> None:
    begun = log.read(0, 1_000, up_to=SEGMENTS)
    before = begun.read()
    for offset in range(1, SEGMENTS):
        log.read(offset, 1, up_to=SEGMENTS)
    assert len(descriptors(log)) == 4
    assert begun.read() == before


def test_the_active_segment_is_written_to_after_it_has_let_go(log: Log) -> None:
    log.reconfigure(LogConfig())
    log.stage_as_leader(batch(), 0, 0)
    log.commit()
    for offset in range(SEGMENTS):
        log.read(offset, 1, up_to=SEGMENTS)
    log.stage_as_leader(batch(), 0, 0)
    log.commit()
    log.sync()
    assert [header.base_offset for header in log.headers(SEGMENTS)] == [SEGMENTS, SEGMENTS + 1]


def test_closing_a_log_makes_room(log: Log, open_files: OpenFiles) -> None:
    log.close(clean=True)
    assert len(open_files) == 0
    assert descriptors(log) == []


def test_deleted_segments_make_room(log: Log, open_files: OpenFiles) -> None:
    log.reconfigure(LogConfig(retention_bytes=0))
    log.delete_old(0, SEGMENTS)
    assert len(open_files) == 1
    assert len(descriptors(log)) == 1
