"""The sparse indexes as files: what was written is found, what cannot be right is refused."""

from __future__ import annotations

import struct

import pytest

from logquake.storage.segments.index_file import DamagedIndexError, OffsetIndex, TimeIndex
from tests.doubles.memory_disk import MemoryDisk

BASE = 5_000_000_000
LARGEST = 2**31 - 1
MAX_BYTES = 1200
LATE_MS = 2**62


def offsets(disk: MemoryDisk) -> OffsetIndex:
    return OffsetIndex(disk, "0.index", BASE, MAX_BYTES)


def times(disk: MemoryDisk) -> TimeIndex:
    return TimeIndex(disk, "0.timeindex", BASE, MAX_BYTES)


def write(disk: MemoryDisk, path: str, content: bytes) -> None:
    disk.open(path, create=True).pwritev([content], 0)


def test_offsets_are_found_after_loading() -> None:
    disk = MemoryDisk()
    index = offsets(disk)
    for offset, position in ((BASE + 1, 0), (BASE + 300, 70_000), (BASE + LARGEST, LARGEST)):
        index.append(offset, position)
    index.trim()
    loaded = offsets(disk)
    loaded.load()
    assert len(loaded) == 3
    assert loaded.lookup(BASE + 299) == 0
    assert loaded.lookup(BASE + 300) == 70_000
    assert loaded.lookup(BASE + LARGEST) == loaded.last_position() == LARGEST


def test_times_are_found_after_loading() -> None:
    disk = MemoryDisk()
    index = times(disk)
    for timestamp, offset in ((7, BASE + 1), (1_700_000_000_000, BASE + 2), (LATE_MS, BASE + 3)):
        index.append_if_newer(timestamp, offset)
    index.trim()
    loaded = times(disk)
    loaded.load()
    assert loaded.last_entry() == (LATE_MS, BASE + 3)
    assert loaded.lookup(LATE_MS - 1) == BASE + 2
    assert loaded.lookup(6) == BASE


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(struct.pack(">ii", 1, 2)[:-1], id="no whole entries"),
        pytest.param(struct.pack(">iiii", 2, 1, 2, 2), id="an offset twice"),
        pytest.param(struct.pack(">iiii", 1, 9, 2, 8), id="a position that falls"),
        pytest.param(struct.pack(">ii", -1, 2), id="an offset before the base"),
        pytest.param(bytes(16), id="zeros of an active segment"),
    ],
)
def test_an_offset_index_that_cannot_be_right_is_refused(content: bytes) -> None:
    disk = MemoryDisk()
    write(disk, "0.index", content)
    with pytest.raises(DamagedIndexError):
        offsets(disk).load()


def test_a_time_index_whose_times_fall_is_refused() -> None:
    disk = MemoryDisk()
    write(disk, "0.timeindex", struct.pack(">qiqi", 2**40, 1, 2**40 - 1, 2))
    with pytest.raises(DamagedIndexError):
        times(disk).load()
