"""Headers: what is read, what is refused, where a run of batches ends."""

from __future__ import annotations

import struct

import pytest

from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    BatchFlag,
    BatchHeader,
    Record,
    check_crc,
    encode_batch,
    iterate_batches,
    read_header,
)

BATCH = bytes(
    encode_batch(
        [Record(40, 1000, b"k", b"v"), Record(41, 2000, b"k", b"v")],
        base_offset=40,
        leader_epoch=3,
        producer_id=7,
        producer_epoch=2,
        base_sequence=0x7FFFFFFF,
        flags=BatchFlag.TRANSACTIONAL,
    )
)


def changed(position: int, form: str, value: int) -> memoryview:
    batch = bytearray(BATCH)
    struct.pack_into(form, batch, position, value)
    return memoryview(batch)


def test_every_field_is_read() -> None:
    header = read_header(memoryview(b"before" + BATCH + b"after"), 6)
    assert header == BatchHeader(
        base_offset=40,
        batch_length=len(BATCH) - 12,
        partition_leader_epoch=3,
        magic=2,
        crc=header.crc,
        attributes=0x10,
        last_offset_delta=1,
        base_timestamp=1000,
        max_timestamp=2000,
        producer_id=7,
        producer_epoch=2,
        base_sequence=0x7FFFFFFF,
        record_count=2,
    )
    assert header.size == len(BATCH)
    assert (header.last_offset, header.next_offset) == (41, 42)
    assert header.is_transactional
    assert not header.is_control


def test_the_last_sequence_wraps_to_zero() -> None:
    assert read_header(memoryview(BATCH)).last_sequence == 0


def test_no_sequence_has_no_last_sequence() -> None:
    batch = encode_batch([Record(0, 1, None, b"v"), Record(1, 1, None, b"v")])
    assert read_header(memoryview(batch)).last_sequence == -1


@pytest.mark.parametrize("length", [-1, 0, 48, len(BATCH) - 11, 2**31 - 1])
def test_an_absurd_length_is_corrupt(length: int) -> None:
    with pytest.raises(RecordError) as refused:
        read_header(changed(8, ">i", length))
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("size", [0, 11, 16, 17, 60, len(BATCH) - 1])
def test_too_few_bytes_are_corrupt(size: int) -> None:
    with pytest.raises(RecordError) as refused:
        read_header(memoryview(BATCH[:size]))
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("magic", [3, 255])
def test_a_magic_that_nobody_has_defined_is_corrupt(magic: int) -> None:
    with pytest.raises(RecordError) as refused:
        read_header(changed(16, ">B", magic))
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("length", [-13, -1, 0, 4, 48])
def test_a_run_with_an_impossible_length_is_corrupt_and_no_endless_loop(length: int) -> None:
    with pytest.raises(RecordError):
        list(iterate_batches(changed(8, ">i", length)))


def test_a_run_may_begin_anywhere_and_ends_at_an_incomplete_batch() -> None:
    run = memoryview(b"xx" + BATCH + BATCH + BATCH[:-1])
    assert [position for position, _ in iterate_batches(run, 2)] == [2, 2 + len(BATCH)]


def test_the_checksum_covers_everything_after_it_and_nothing_before() -> None:
    for position in range(len(BATCH)):
        damaged = bytearray(BATCH)
        damaged[position] ^= 0x10
        header = read_header(memoryview(BATCH))._replace(
            crc=struct.unpack_from(">I", damaged, 17)[0]
        )
        if position < 17:
            check_crc(memoryview(damaged), 0, header)
            continue
        with pytest.raises(RecordError) as refused:
            check_crc(memoryview(damaged), 0, header)
        assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
