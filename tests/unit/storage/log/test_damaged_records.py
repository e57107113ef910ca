"""A bit that flipped in an old segment: a read of it fails, and nothing else does."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode, RecordError
from tests.doubles.memory_disk import MemoryDisk

OpenLog = Callable[..., Log]
MakeBatch = Callable[..., memoryview]
CONFIG = LogConfig(segment_bytes=1_000, retention_ms=1_000)
LAST_OF_FIRST = 9  # the first segment's last offset
BATCH_BYTES = 94
OFFSET_AT = 3
LENGTH_AT = 8
DEFLATED_AT = 71


@pytest.fixture
def log(open_log: OpenLog, make_batch: MakeBatch) -> Log:
    """Thirty compressed batches of one record, at times 0 to 29, in several segments."""
    log = open_log(CONFIG)
    for number in range(30):
        batch = make_batch(1, 100, timestamp_ms=number, codec=Codec.GZIP)
        log.stage_as_leader(batch, 0, 0)
    log.commit()
    assert log.size == 30 * BATCH_BYTES
    log.close(clean=True)
    return open_log(CONFIG)


def flip(disk: MemoryDisk, directory: str, position: int) -> None:
    """In the first batch of the log."""
    file = disk.open(f"{directory}/{0:020d}.log")
    file.pwritev([bytes([file.pread(1, position)[0] ^ 0xFF])], position)


def test_a_read_of_it_is_told_so_and_reads_around_it_succeed(
    log: Log, disk: MemoryDisk, directory: str
) -> None:
    flip(disk, directory, LENGTH_AT)
    with pytest.raises(RecordError, match="reading offset 0: at byte 0") as refused:
        log.read(0, 1_000, up_to=30)
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
    assert log.read(25, 1_000, up_to=30).first_offset == 25


@pytest.mark.parametrize("position", [LENGTH_AT, DEFLATED_AT])
def test_a_time_is_not_found_by_it(
    log: Log, disk: MemoryDisk, directory: str, position: int
) -> None:
    flip(disk, directory, position)
    with pytest.raises(RecordError, match="looking up time 0") as refused:
        log.offset_for_time(0)
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


def test_what_lies_before_it_in_its_segment_is_read(
    log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog
) -> None:
    log.close(clean=True)
    file = disk.open(f"{directory}/{0:020d}.log")
    file.truncate(file.size() - 1)
    again = open_log(CONFIG)
    assert again.read(0, 100, up_to=30).first_offset == 0
    with pytest.raises(RecordError, match="CORRUPT_MESSAGE"):
        again.read(LAST_OF_FIRST, 100, up_to=30)


def test_an_offset_that_cannot_be_there_is_no_reason_to_wait_for_it(
    log: Log, disk: MemoryDisk, directory: str
) -> None:
    flip(disk, directory, OFFSET_AT)
    with pytest.raises(RecordError, match="in a segment that ends at"):
        log.read(0, 100, up_to=30)


@pytest.mark.parametrize(
    "entry", [(1, 5), (1, 3 * BATCH_BYTES)], ids=["within a batch", "at a later one"]
)
def test_an_index_that_points_elsewhere_is_built_anew(
    log: Log, disk: MemoryDisk, directory: str, open_log: OpenLog, entry: tuple[int, int]
) -> None:
    log.close(clean=True)
    path = f"{directory}/{0:020d}.index"
    disk.open(path).truncate(0)
    disk.open(path).pwritev([struct.pack(">ii", *entry)], 0)
    again = open_log(CONFIG)
    for offset in range(LAST_OF_FIRST + 1):
        assert again.read(offset, 100, up_to=30).first_offset == offset


def test_its_segment_grows_old_by_the_time_of_its_file(
    log: Log, disk: MemoryDisk, directory: str
) -> None:
    disk.remove(f"{directory}/{0:020d}.timeindex")
    flip(disk, directory, LENGTH_AT)
    written_ms = disk.modified_ms(f"{directory}/{0:020d}.log")
    assert log.delete_old(written_ms + 1_000, 30) == []
    assert [each.base_offsets[0] for each in log.delete_old(written_ms + 1_001, 30)] == [0]
