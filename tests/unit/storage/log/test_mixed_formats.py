"""Logs that were written through upgrades: message sets of magic 0 and 1, then record batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig, TimestampType
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    Codec,
    Record,
    encode_batch,
    encode_message_set,
    iterate_batches,
    iterate_records,
)
from tests.doubles.memory_disk import MemoryDisk

OpenLog = Callable[..., Log]
T = 1_700_000_000_000
LIMIT_BYTES = 1 << 20
SMALL_INDEX = LogConfig(index_interval_bytes=64)


def records(first: int, count: int) -> list[Record]:
    return [
        Record(offset, T + offset, b"k%d" % offset, b"value %d" % offset)
        for offset in range(first, first + count)
    ]


def mixed() -> bytes:
    """Offsets 0 to 59: single entries, wrappers, batches, of ten records each."""
    return b"".join(
        (
            encode_message_set(records(0, 10), 0),
            encode_message_set(records(10, 10), 0, codec=Codec.GZIP),
            encode_message_set(records(20, 10), 1),
            encode_message_set(records(30, 10), 1, codec=Codec.LZ4),
            bytes(encode_batch(records(40, 10), base_offset=40, leader_epoch=3)),
            encode_message_set(records(50, 10), 1, codec=Codec.SNAPPY),
        )
    )


def append(log: Log, data: bytes) -> None:
    log.stage_as_follower(memoryview(bytearray(data)))
    log.commit()


def offsets_from(log: Log, offset: int) -> list[int]:
    """Of all records that a reader gets who begins here."""
    found: list[int] = []
    while offset < log.end_offset:
        view = memoryview(log.read(offset, 1 << 20, up_to=log.end_offset).read())
        for position, header in iterate_batches(view):
            read = iterate_records(view, position, header, LIMIT_BYTES)
            found += [record.offset for record in read if record.offset >= offset]
            offset = header.next_offset
    return found


def test_a_follower_takes_them_over_byte_for_byte(open_log: OpenLog) -> None:
    log = open_log()
    append(log, mixed())
    assert log.end_offset == 60
    assert log.read(0, 1 << 20, up_to=60).read() == mixed()


@pytest.mark.parametrize("restart", ["no", "clean", "unclean"])
@pytest.mark.parametrize("config", [LogConfig(), SMALL_INDEX, LogConfig(segment_bytes=400)])
def test_every_offset_is_found(open_log: OpenLog, restart: str, config: LogConfig) -> None:
    log = open_log(config)
    append(log, mixed())
    if restart != "no":
        log.close(clean=restart == "clean")
        log = open_log(config, clean=restart == "clean")
        assert log.recovery.why is None
    assert log.end_offset == 60
    for offset in range(60):
        assert offsets_from(log, offset) == list(range(offset, 60))


def test_a_read_ends_where_it_must(open_log: OpenLog) -> None:
    log = open_log(SMALL_INDEX)
    append(log, mixed())
    for up_to, expected in ((3, 3), (15, 10), (20, 20), (25, 25), (45, 40), (60, 60)):
        view = memoryview(log.read(0, 1 << 20, up_to=up_to).read())
        (*_, (_, last)) = iterate_batches(view)
        assert last.next_offset == expected


def test_times_are_found_where_there_are_any(open_log: OpenLog) -> None:
    log = open_log(SMALL_INDEX)
    append(log, mixed())
    # What magic 0 holds has no times; a search for earlier ones finds the first that has one.
    assert log.offset_for_time(0) == (T + 20, 20)
    for offset in (20, 27, 33, 44, 59):
        assert log.offset_for_time(T + offset) == (T + offset, offset)
    assert log.offset_for_time(T + 60) is None
    assert log.offset_of_max_timestamp() == (T + 59, 59)


@pytest.mark.parametrize(("cut", "end"), [(5, 5), (15, 10), (29, 29), (31, 30), (45, 40), (58, 50)])
def test_truncation_drops_whole_entries(open_log: OpenLog, cut: int, end: int) -> None:
    log = open_log(SMALL_INDEX)
    append(log, mixed())
    assert log.truncate_to(cut) == end
    assert offsets_from(log, 0) == list(range(end))
    append(log, encode_message_set(records(end, 3), 1, codec=Codec.GZIP))
    assert offsets_from(log, 0) == list(range(end + 3))


def test_a_wrapper_that_begins_before_its_segment_is_dropped_as_a_whole(open_log: OpenLog) -> None:
    log = open_log()
    log.truncate_fully_and_start_at(25)
    append(log, encode_message_set(records(20, 10), 1, codec=Codec.GZIP))
    append(log, encode_message_set(records(30, 10), 1, codec=Codec.GZIP))
    assert log.truncate_to(27) == 25
    assert (log.start_offset, log.end_offset, log.size) == (25, 25, 0)


def test_a_torn_message_is_cut_off(open_log: OpenLog, disk: MemoryDisk, directory: str) -> None:
    log = open_log()
    append(log, mixed())
    size = log.size
    log.close(clean=False)
    file = disk.open(f"{directory}/00000000000000000000.log")
    file.truncate(size - 4)
    log = open_log(clean=False)
    assert log.end_offset == 50
    assert log.recovery.why is not None
    assert offsets_from(log, 0) == list(range(50))


def test_damage_within_a_message_is_noticed(
    open_log: OpenLog, disk: MemoryDisk, directory: str
) -> None:
    log = open_log()
    append(log, mixed())
    log.close(clean=False)
    disk.open(f"{directory}/00000000000000000000.log").pwritev([b"\x55"], 60)
    log = open_log(clean=False)
    assert log.end_offset == 1
    assert "crc" in str(log.recovery.why)


def test_a_message_set_makes_leader_epochs_unknown(open_log: OpenLog) -> None:
    """As in Kafka: an old leader came between, so epochs must not decide truncation."""
    log = open_log()
    append(log, bytes(encode_batch(records(0, 2), leader_epoch=4)))
    latest = [log.epochs.latest]
    append(log, encode_message_set(records(2, 2), 1))
    latest.append(log.epochs.latest)
    assert latest == [4, None]
    append(log, bytes(encode_batch(records(4, 2), base_offset=4, leader_epoch=6)))
    assert [(entry.epoch, entry.start_offset) for entry in log.epochs.entries] == [(6, 4)]


@pytest.mark.parametrize("magic", [0, 1])
def test_a_leader_keeps_batches_of_magic_2_alone(open_log: OpenLog, magic: int) -> None:
    log = open_log()
    data = memoryview(bytearray(encode_message_set(records(0, 3), magic, codec=Codec.GZIP)))
    appended = log.stage_as_leader(data, 5, T)
    log.commit()
    assert (appended.first_offset, appended.last_offset) == (0, 2)
    (header,) = log.headers(0)
    assert (header.magic, header.partition_leader_epoch, header.codec) == (2, 5, Codec.GZIP)


def test_append_times_reach_what_was_converted(open_log: OpenLog) -> None:
    log = open_log(LogConfig(message_timestamp_type=TimestampType.LOG_APPEND_TIME))
    data = memoryview(bytearray(encode_message_set(records(0, 3), 0)))
    assert log.stage_as_leader(data, 0, T + 99).log_append_time_ms == T + 99
    log.commit()
    assert log.offset_for_time(T) == (T + 99, 0)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("gzip", 1, 9), ("lz4", 9, 17), ("zstd", -50, 19)]
)
def test_levels_tell_how_hard_to_compress(
    open_log: OpenLog, name: str, low: int, high: int
) -> None:
    text = b" ".join(b"%d" % (number * number) for number in range(3000))
    sizes = []
    log = open_log()
    for level in (low, high):
        config: dict[str, Any] = {f"{name}_level": level}
        log.reconfigure(LogConfig(compression=Codec[name.upper()], **config))
        batch = memoryview(encode_batch([Record(0, T, b"k", text)]))
        sizes.append(log.stage_as_leader(batch, 0, T).size)
        log.commit()
    assert sizes[0] > sizes[1]


def test_growing_past_the_limit_by_conversion_is_refused(open_log: OpenLog) -> None:
    log = open_log(LogConfig(max_message_bytes=90))
    data = memoryview(bytearray(encode_message_set(records(0, 4), 0)))
    with pytest.raises(RecordError) as refused:
        log.stage_as_leader(data, 0, T)
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE
    assert log.end_offset == 0


def test_epochs_that_a_message_set_made_forgotten_are_not_found_again(open_log: OpenLog) -> None:
    log = open_log()
    append(log, bytes(encode_batch(records(0, 10), leader_epoch=3)))
    append(log, encode_message_set(records(10, 10), 1))
    assert not log.epochs.entries
    log.close(clean=True)
    again = open_log(clean=True)
    assert not again.epochs.entries
    append(again, bytes(encode_batch(records(20, 10), base_offset=20, leader_epoch=4)))
    assert [tuple(entry) for entry in again.epochs.entries] == [(4, 20)]
