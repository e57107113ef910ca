"""What a leader writes in place keeps the batch whole."""

from __future__ import annotations

from logquake.wire.records import (
    Record,
    check_crc,
    encode_batch,
    iterate_records,
    patch_base,
    read_header,
    set_max_timestamp,
)


def two_batches() -> bytearray:
    return encode_batch([Record(0, 1000, b"a", b"1")]) + encode_batch(
        [Record(0, 1000, b"b", b"2"), Record(1, 3000, b"c", b"3")]
    )


def second(buffer: bytearray) -> int:
    return read_header(memoryview(buffer)).size


def test_a_patched_batch_has_its_offsets_and_epoch_and_the_same_checksum() -> None:
    buffer = two_batches()
    position = second(buffer)
    before = bytes(buffer[:position])
    patch_base(memoryview(buffer), position, 500, 9)
    header = read_header(memoryview(buffer), position)
    assert (header.base_offset, header.last_offset, header.partition_leader_epoch) == (500, 501, 9)
    check_crc(memoryview(buffer), position, header)
    offsets = [r.offset for r in iterate_records(memoryview(buffer), position, header, 1 << 20)]
    assert offsets == [500, 501]
    assert buffer[:position] == before


def test_an_append_time_is_read_from_every_record() -> None:
    buffer = two_batches()
    position = second(buffer)
    view = memoryview(buffer)
    set_max_timestamp(
        view, position, read_header(view, position), log_append_time=True, max_timestamp=7777
    )
    header = read_header(view, position)
    check_crc(view, position, header)
    assert header.is_log_append_time
    stamps = {r.timestamp_ms for r in iterate_records(view, position, header, 1 << 20)}
    assert stamps == {7777}


def test_an_append_time_batch_goes_back_to_create_times() -> None:
    buffer = bytearray(encode_batch([Record(0, 5, b"a", b"1")], flags=0x08, max_timestamp=99))
    view = memoryview(buffer)
    set_max_timestamp(view, 0, read_header(view), log_append_time=False, max_timestamp=5)
    header = read_header(view)
    check_crc(view, 0, header)
    assert (header.is_log_append_time, header.max_timestamp) == (False, 5)


def test_nothing_is_written_when_nothing_changes() -> None:
    view = memoryview(bytes(two_batches()))  # read-only: a write would raise
    header = read_header(view)
    set_max_timestamp(view, 0, header, log_append_time=False, max_timestamp=header.max_timestamp)
    assert view == two_batches()


def test_attributes_that_nobody_has_defined_go_when_the_batch_is_patched() -> None:
    buffer = bytearray(encode_batch([Record(0, 5, b"a", b"1")], flags=0x4480))
    view = memoryview(buffer)
    set_max_timestamp(view, 0, read_header(view), log_append_time=False, max_timestamp=5)
    assert read_header(view).attributes == 0x4480
    set_max_timestamp(view, 0, read_header(view), log_append_time=False, max_timestamp=6)
    check_crc(view, 0, read_header(view))
    assert read_header(view).attributes == 0
