from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig, TimestampType
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    Codec,
    ControlType,
    check_crc,
    encode_end_marker,
    iterate_batches,
    iterate_records,
    read_header,
)
from tests.doubles.memory_disk import MemoryDisk

OpenLog = Callable[..., Log]
MakeBatch = Callable[..., memoryview]
IDEMPOTENT = {"producer_id": 7, "producer_epoch": 0}


def code_of(append: Callable[[], object]) -> ErrorCode:
    with pytest.raises(RecordError) as refused:
        append()
    return refused.value.code


def stored(log: Log) -> list[bytes]:
    view = memoryview(log.read(log.start_offset, 1 << 20, up_to=log.end_offset).read())
    return [bytes(view[at : at + header.size]) for at, header in iterate_batches(view)]


def test_a_batch_gets_its_offset_and_epoch_in_place(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    log.stage_as_leader(make_batch(3), 4, 0)
    batch = make_batch(2, timestamp_ms=500)
    appended = log.stage_as_leader(batch, 4, 0)
    assert appended == (3, 4, 501, -1, False, len(batch))
    header = read_header(batch)
    assert (header.base_offset, header.partition_leader_epoch) == (3, 4)
    assert (log.end_offset, log.written_end_offset) == (5, 0)
    log.commit()
    assert log.written_end_offset == 5
    assert stored(log)[1] == bytes(batch)
    assert list(log.epochs.entries) == [(4, 0)]


def test_what_is_staged_cannot_be_read(open_log: OpenLog, make_batch: MakeBatch) -> None:
    log = open_log()
    log.stage_as_leader(make_batch(), 0, 0)
    assert len(log.read(0, 1_000, up_to=1)) == 0
    log.commit()
    assert len(log.read(0, 1_000, up_to=1)) > 0


def test_bytes_after_the_batch_are_left_out(open_log: OpenLog, make_batch: MakeBatch) -> None:
    log = open_log()
    batch = make_batch()
    log.stage_as_leader(memoryview(bytearray(bytes(batch) + b"tail")), 0, 0)
    log.commit()
    assert log.size == len(batch)


def test_a_damaged_batch_is_refused_and_nothing_is_staged(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    batch = make_batch()
    batch[-1] ^= 1
    assert code_of(lambda: log.stage_as_leader(batch, 0, 0)) == ErrorCode.CORRUPT_MESSAGE
    assert log.end_offset == 0
    assert list(log.epochs.entries) == []


def test_sizes_are_bounded_by_message_and_by_segment(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(max_message_bytes=200, segment_bytes=300))
    too_large = code_of(lambda: log.stage_as_leader(make_batch(size=150), 0, 0))
    assert too_large == ErrorCode.MESSAGE_TOO_LARGE
    log.reconfigure(LogConfig(max_message_bytes=1000, segment_bytes=300))
    too_long = code_of(lambda: log.stage_as_leader(make_batch(size=300), 0, 0))
    assert too_long == ErrorCode.RECORD_LIST_TOO_LARGE


def test_a_compacted_topic_wants_keys(open_log: OpenLog, make_batch: MakeBatch) -> None:
    log = open_log(LogConfig(compacted=True))
    batch = make_batch(key=None)
    assert code_of(lambda: log.stage_as_leader(batch, 0, 0)) == ErrorCode.INVALID_RECORD


def test_a_repeated_batch_answers_its_old_offsets_even_while_staged(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    log.stage_as_leader(make_batch(2), 0, 0)
    first = log.stage_as_leader(make_batch(3, base_sequence=0, **IDEMPOTENT), 0, 0)
    again = log.stage_as_leader(make_batch(3, base_sequence=0, **IDEMPOTENT), 0, 0)
    assert (again.first_offset, again.last_offset, again.duplicate, again.size) == (2, 4, True, 0)
    assert first.max_timestamp == again.max_timestamp
    log.commit()
    assert log.written_end_offset == 5


def test_sequences_are_checked_across_staged_batches(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    log.stage_as_leader(make_batch(3, base_sequence=0, **IDEMPOTENT), 0, 0)
    log.stage_as_leader(make_batch(3, base_sequence=3, **IDEMPOTENT), 0, 0)
    gap = make_batch(1, base_sequence=7, **IDEMPOTENT)
    code = code_of(lambda: log.stage_as_leader(gap, 0, 0))
    assert code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.end_offset == 6


def test_append_time_replaces_the_producers_times(open_log: OpenLog, make_batch: MakeBatch) -> None:
    log = open_log(LogConfig(message_timestamp_type=TimestampType.LOG_APPEND_TIME))
    batch = make_batch(2, timestamp_ms=5)
    appended = log.stage_as_leader(batch, 0, 9_000)
    assert (appended.max_timestamp, appended.log_append_time_ms) == (9_000, 9_000)
    log.commit()
    header = read_header(batch)
    check_crc(batch, 0, header)
    assert header.is_log_append_time
    assert log.offset_for_time(9_000) == (9_000, 0)


def test_the_topics_codec_replaces_the_producers(open_log: OpenLog, make_batch: MakeBatch) -> None:
    log = open_log(LogConfig(compression=Codec.ZSTD))
    batch = make_batch(50, size=100)
    appended = log.stage_as_leader(batch, 2, 0)
    log.commit()
    view = memoryview(stored(log)[0])
    header = read_header(view)
    check_crc(view, 0, header)
    assert (header.codec, header.partition_leader_epoch) == (Codec.ZSTD, 2)
    assert appended.size == len(view) < len(batch)
    records = list(iterate_records(view, 0, header, 1 << 20))
    assert [record.offset for record in records] == list(range(50))


def test_a_marker_of_the_broker_ends_a_transaction(open_log: OpenLog) -> None:
    log = open_log()
    marker = encode_end_marker(
        ControlType.COMMIT, coordinator_epoch=3, producer_id=7, producer_epoch=0, timestamp_ms=5
    )
    client = code_of(lambda: log.stage_as_leader(memoryview(marker[:]), 0, 0))
    assert client == ErrorCode.INVALID_RECORD
    log.stage_as_leader(memoryview(marker), 0, 0, internal=True)
    log.commit()
    entry = log.producers.get(7)
    assert entry is not None
    assert entry.coordinator_epoch == 3
    assert log.written_end_offset == 1


def test_a_follower_keeps_offsets_epochs_and_bytes(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    batches = [
        bytes(make_batch(2, base_offset=0, leader_epoch=1)),
        bytes(make_batch(3, base_offset=2, leader_epoch=1)),
        bytes(make_batch(1, base_offset=5, leader_epoch=4)),
    ]
    cut = bytes(make_batch(1, base_offset=6, leader_epoch=4))[:-5]
    appended = log.stage_as_follower(memoryview(b"".join([*batches, cut])))
    log.commit()
    assert (appended.first_offset, appended.last_offset) == (0, 5)
    assert stored(log) == batches
    assert list(log.epochs.entries) == [(1, 0), (4, 5)]


def test_a_follower_takes_nothing_of_an_answer_with_a_fault(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    good = bytes(make_batch(2, base_offset=0, leader_epoch=3))
    damaged = bytearray(make_batch(1, base_offset=2, leader_epoch=3))
    damaged[-1] ^= 1
    cases = [
        (bytes(damaged), ErrorCode.CORRUPT_MESSAGE),
        (bytes(make_batch(1, base_offset=1, leader_epoch=3)), ErrorCode.OFFSET_OUT_OF_RANGE),
        (bytes(make_batch(1, base_offset=2, leader_epoch=2)), ErrorCode.CORRUPT_MESSAGE),
    ]
    for bad, code in cases:
        assert code_of(partial(log.stage_as_follower, memoryview(good + bad))) == code
        assert log.end_offset == 0


def test_a_follower_takes_the_gaps_that_compaction_left_whatever_the_policy_is_now(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    log.stage_as_follower(make_batch(1, base_offset=5, leader_epoch=0))
    log.commit()
    assert log.end_offset == 6
    assert log.read(2, 100, up_to=6).first_offset == 5


def test_a_follower_that_rolls_at_a_gap_keeps_what_follows_it_through_a_crash(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(segment_bytes=100))
    for offset in (0, 5, 9):
        log.stage_as_follower(make_batch(1, base_offset=offset, leader_epoch=0))
    log.commit()
    log.close(clean=False)
    log = open_log(LogConfig(segment_bytes=100), clean=False)
    assert [header.base_offset for header in log.headers(0)] == [0, 5, 9]


def test_a_gap_wider_than_a_segment_begins_another_segment(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    far = 2**31 + 5
    log.stage_as_follower(make_batch(1, base_offset=far, leader_epoch=0))
    log.stage_as_follower(make_batch(1, base_offset=2 * far, leader_epoch=0))
    log.commit()
    log.close(clean=False)
    log = open_log(clean=False)
    assert [header.base_offset for header in log.headers(0)] == [far, 2 * far]
    assert log.read(1, 100, up_to=log.end_offset).first_offset == far


def test_flush_messages_syncs_within_commit(open_log: OpenLog, make_batch: MakeBatch) -> None:
    log = open_log(LogConfig(flush_messages=3))
    log.stage_as_leader(make_batch(2), 0, 0)
    log.commit()
    assert log.recovery_point == 0
    log.stage_as_leader(make_batch(1), 0, 0)
    log.commit()
    assert log.recovery_point == 3


def test_one_commit_writes_a_segment_in_one_call(
    disk: MemoryDisk, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    log.stage_as_leader(make_batch(), 0, 0)
    log.commit()
    for _ in range(20):
        log.stage_as_leader(make_batch(), 0, 0)
    calls = disk.faults.changes
    log.commit()
    assert disk.faults.changes == calls + 1
