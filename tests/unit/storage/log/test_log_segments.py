"""Rolling, index entries and the shape of files, as Kafka has them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import pairwise

import pytest

from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from tests.doubles.memory_disk import MemoryDisk

OpenLog = Callable[..., Log]
MakeBatch = Callable[..., memoryview]


def append(log: Log, *batches: memoryview) -> None:
    for batch in batches:
        log.stage_as_leader(batch, 0, 0)
    log.commit()


def base_offsets(disk: MemoryDisk, directory: str) -> list[int]:
    return [int(name[:20]) for name in disk.list(directory) if name.endswith(".log")]


def entries(disk: MemoryDisk, path: str, layout: str) -> list[tuple[int, ...]]:
    return list(struct.iter_unpack(layout, disk.read(path)))


def test_a_segment_rolls_when_the_next_batch_would_pass_its_size(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    size = len(make_batch(4))
    log = open_log(LogConfig(segment_bytes=3 * size))
    append(log, *(make_batch(4) for _ in range(7)))
    assert base_offsets(disk, directory) == [0, 12, 24]
    assert f"{12:020d}.snapshot" in disk.list(directory)


def test_a_segment_rolls_when_a_relative_offset_would_overflow(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(compacted=True))
    for offset in (0, 2**31 - 1, 2**31, 2**31 + 1):
        log.stage_as_follower(make_batch(1, base_offset=offset, leader_epoch=0))
        log.commit()
    assert base_offsets(disk, directory) == [0, 2**31]


def test_a_segment_rolls_when_an_index_is_full(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(index_interval_bytes=1, index_max_bytes=48))
    for number in range(12):
        append(log, make_batch(1, timestamp_ms=number))
    # Four time entries at most, one of them kept for sealing; the first batch has none.
    assert base_offsets(disk, directory) == [0, 4, 8]


def test_a_segment_rolls_when_a_batch_is_much_newer_than_its_first(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(segment_ms=100))
    append(log, *(make_batch(1, timestamp_ms=time) for time in (1_000, 1_100, 1_101, 1_200)))
    assert base_offsets(disk, directory) == [0, 2]


def test_an_older_batch_does_not_make_a_segment_roll(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(segment_ms=100))
    append(log, *(make_batch(1, timestamp_ms=time) for time in (1_000, 10, 1_100)))
    assert base_offsets(disk, directory) == [0]


def test_the_time_of_the_first_batch_counts_after_a_restart_too(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    config = LogConfig(segment_ms=100)
    log = open_log(config)
    append(log, make_batch(1, timestamp_ms=1_000), make_batch(1, timestamp_ms=1_090))
    log.close(clean=True)
    append(open_log(config), make_batch(1, timestamp_ms=1_101))
    assert base_offsets(disk, directory) == [0, 2]


def test_without_a_time_in_the_first_batch_the_clock_makes_a_segment_roll(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(segment_ms=100))
    for offset, now_ms in enumerate((5_000, 5_100, 5_101, 5_102)):
        batch = make_batch(1, timestamp_ms=-1, base_offset=offset, leader_epoch=0)
        log.stage_as_follower(batch, now_ms)
        log.commit()
    assert base_offsets(disk, directory) == [0, 2]


def test_jitter_lets_segments_roll_earlier_by_different_times(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(segment_ms=1_000, segment_jitter_ms=900))
    append(log, *(make_batch(1, timestamp_ms=time) for time in range(0, 20_000, 10)))
    bases = base_offsets(disk, directory)
    lengths = {10 * (after - before) for before, after in pairwise(bases)}
    assert min(lengths) > 100
    assert max(lengths) <= 1_010
    assert len(lengths) > 3


def test_an_empty_segment_takes_any_batch_within_reach_of_its_offset(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(segment_bytes=1, index_max_bytes=1, compacted=True))
    log.stage_as_follower(make_batch(1, base_offset=2**31 - 1, leader_epoch=0))
    log.commit()
    assert base_offsets(disk, directory) == [0]


def test_an_empty_segment_that_begins_too_early_is_left_behind(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(compacted=True))
    log.stage_as_follower(make_batch(1, base_offset=2**31, leader_epoch=0))
    log.commit()
    assert base_offsets(disk, directory) == [0, 2**31]
    assert log.read(5, 1_000, up_to=log.end_offset).first_offset == 2**31


def test_a_segment_fills_its_index_to_the_last_entry_within_one_write(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(index_interval_bytes=1, index_max_bytes=48))
    append(log, *(make_batch(1, timestamp_ms=number) for number in range(12)))
    assert base_offsets(disk, directory) == [0, 4, 8]


def test_index_entries_come_before_the_batch_that_follows_the_interval(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    size = len(make_batch(5))
    log = open_log(LogConfig(index_interval_bytes=2 * size))
    times = [50, 10, 30, 20, 60, 40, 70]
    append(log, *(make_batch(5, timestamp_ms=time) for time in times))
    log.close(clean=True)
    path = f"{directory}/{0:020d}"
    assert entries(disk, path + ".index", ">ii") == [(19, 3 * size), (34, 6 * size)]
    # The largest time so far and the last offset of its batch; sealing adds nothing newer here.
    assert entries(disk, path + ".timeindex", ">qi") == [(54, 4), (74, 34)]


def test_indexes_are_zero_filled_while_active_and_trimmed_by_a_clean_close(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    append(log, make_batch())
    index, time_index = f"{directory}/{0:020d}.index", f"{directory}/{0:020d}.timeindex"
    assert (disk.open(index).size(), disk.open(time_index).size()) == (10_485_760, 10_485_756)
    log.close(clean=True)
    assert (disk.open(index).size(), disk.open(time_index).size()) == (0, 12)


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("content", [None, b"", b"abc", bytes(120)])
def test_a_lost_or_damaged_index_is_rebuilt(
    disk: MemoryDisk,
    directory: str,
    open_log: OpenLog,
    make_batch: MakeBatch,
    suffix: str,
    content: bytes | None,
) -> None:
    config = LogConfig(index_interval_bytes=100, segment_bytes=2_000)
    log = open_log(config)
    append(log, *(make_batch(5, timestamp_ms=100 * number) for number in range(30)))
    log.close(clean=True)
    path = f"{directory}/{0:020d}{suffix}"
    before = disk.read(path)
    assert before
    disk.remove(path)
    if content is not None:
        disk.replace(path, content)
    log = open_log(config)
    for offset in range(log.end_offset):
        assert log.read(offset, 1, up_to=log.end_offset).first_offset == offset // 5 * 5
    assert log.offset_for_time(302) == (302, 17)
    if content:
        assert disk.read(path)[: len(before) - 12] == before[:-12]
