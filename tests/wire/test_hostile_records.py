"""Hostile bytes: the only outcomes are success and RecordError, in bounded memory."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
from collections.abc import Callable

import cramjam
import crc32c
import lz4.frame
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from logquake.wire.compression import snappy
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    HEADER_BYTES,
    Codec,
    ProduceLimits,
    Record,
    compress,
    decompress,
    encode_batch,
    iterate_batches,
    iterate_records,
    read_header,
    validate_produced,
)

MIB = 1 << 20
NOW_MS = 1_700_000_000_000
VALID = bytes(
    encode_batch([Record(i, NOW_MS + i, b"key", b"value" * i, (("h", b"x"),)) for i in range(5)])
)


def with_body(body: bytes, count: int = 1, attributes: int = 0) -> memoryview:
    """A batch whose header and CRC are right, around any body."""
    batch = bytearray(VALID[:HEADER_BYTES] + body)
    struct.pack_into(">i", batch, 8, len(batch) - 12)
    struct.pack_into(">hi", batch, 21, attributes, count - 1)
    struct.pack_into(">i", batch, 57, count)
    struct.pack_into(">I", batch, 17, crc32c.crc32c(bytes(batch[21:])))
    return memoryview(batch)


def validate(batch: memoryview) -> None:
    validate_produced(batch, 0, read_header(batch), ProduceLimits(), NOW_MS)


@given(data=st.binary(max_size=300))
def test_any_bytes_walk_as_batches_or_are_refused(data: bytes) -> None:
    try:
        for position, header in iterate_batches(memoryview(data)):
            list(iterate_records(memoryview(data), position, header, MIB))
    except RecordError:
        pass


@settings(max_examples=300)
@given(flips=st.dictionaries(st.integers(0, len(VALID) - 1), st.integers(1, 255), min_size=1))
def test_a_damaged_batch_is_never_valid(flips: dict[int, int]) -> None:
    damaged = bytearray(VALID)
    for position, bits in flips.items():
        damaged[position] ^= bits
    if damaged[12:16] != VALID[12:16] and damaged[:12] + damaged[16:] == VALID[:12] + VALID[16:]:
        return  # the leader epoch is the leader's to write, nothing else differs
    with pytest.raises(RecordError):
        validate(memoryview(damaged))


@settings(max_examples=300)
@given(body=st.binary(max_size=120), count=st.integers(1, 10), codec=st.integers(0, 7))
@example(body=b"\x10\x00\x00\x00\x01\x01\x02\x02\xff\x01", count=1, codec=0)
@example(body=b"\xff" * 40, count=1, codec=0)
@example(body=b"\x14\x00\x00\x00" + b"\xfe" + b"\xff" * 8 + b"\x01" + b"\x01\x00", count=1, codec=0)
def test_a_hostile_body_with_a_right_checksum_is_refused_or_read(
    body: bytes, count: int, codec: int
) -> None:
    batch = with_body(body, count, codec)
    try:
        validate(batch)
    except RecordError:
        return
    assert len(list(iterate_records(batch, 0, read_header(batch), MIB))) == count


def test_a_header_key_that_is_not_utf8_is_taken_and_reads_as_in_java() -> None:
    batch = with_body(VALID[HEADER_BYTES:] + b"\x12\x00\x00\x0a\x01\x01\x02\x02\xff\x01", 6)
    validate(batch)
    records = list(iterate_records(batch, 0, read_header(batch), MIB))
    assert [record.value for record in records] == [*(b"value" * i for i in range(5)), None]
    assert records[-1].headers == (("\ufffd", None),)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_of_many_records_none_is_read_slowly(codec: Codec) -> None:
    """A MiB of zstd may hold millions: read to Kafka's letter, they would take minutes."""
    records = (
        b"\x0e\x00\x00\x00\x01\x02v\x00" * 4 + b"\x12\x00\x00\x00\x01\x01\x02\x02\xff\x01"
    ) * 40
    batch = with_body(compress(codec, records), 200, attributes=codec)
    limits = ProduceLimits(max_exact_bytes=len(records) - 1)
    with pytest.raises(RecordError, match="utf-8") as refused:
        validate_produced(batch, 0, read_header(batch), limits, NOW_MS)
    assert refused.value.code is ErrorCode.INVALID_RECORD


def test_attributes_of_a_record_are_a_byte() -> None:
    batch = with_body(b"\x0e\xff\x00\x00\x01\x02v\x00")
    validate(batch)
    (record,) = iterate_records(batch, 0, read_header(batch), MIB)
    assert record.value == b"v"


@pytest.mark.parametrize(
    "body",
    [
        "12 00 00 00 01 01 02 01 01",  # a header without a key
        "0c 00 00 00 01 01 01",  # a negative number of headers
        "0c 00 00 00 01 01 7e",  # more headers than bytes
        "10 00 00 00 01 01 00",  # longer than what is left
        "0a 00 00 00 01 01 00",  # longer than it says
        "0e 00 00 00 01 01 00 00",  # shorter than it says
        "01 00 00 00 01 01 00",  # of a negative length
        "0e ff 00 00 7e 02 76 00",  # a key longer than what is left
        "ffffffffffff00 ff 00 00 01 01 00",  # a length of more than five bytes
    ],
)
def test_records_that_kafka_could_not_read_are_refused(body: str) -> None:
    with pytest.raises(RecordError) as refused:
        validate(with_body(bytes.fromhex(body)))
    assert refused.value.code is ErrorCode.INVALID_RECORD


def test_bytes_that_do_not_decompress_are_not_worth_sending_again() -> None:
    with pytest.raises(RecordError) as refused:
        validate(with_body(b"no gzip", attributes=Codec.GZIP))
    assert refused.value.code is ErrorCode.INVALID_RECORD
    assert not refused.value.code.retriable


def test_bytes_after_the_last_record_are_refused() -> None:
    with pytest.raises(RecordError, match="1 bytes after the last"):
        validate(with_body(VALID[HEADER_BYTES:] + b"\x00", count=5))


def test_fewer_records_than_claimed_are_refused() -> None:
    with pytest.raises(RecordError) as refused:
        validate(with_body(VALID[HEADER_BYTES:], count=6))
    assert refused.value.code is ErrorCode.INVALID_RECORD


def xerial_bomb(size: int) -> bytes:
    block = bytes(cramjam.snappy.compress_raw(bytes(size // 64)))
    return snappy.compress(b"")[:16] + (struct.pack(">i", len(block)) + block) * 64


BOMBS: dict[str, tuple[Codec, Callable[[int], bytes]]] = {
    "gzip": (Codec.GZIP, lambda size: gzip.compress(bytes(size))),
    "gzip in many members": (Codec.GZIP, lambda size: gzip.compress(bytes(size // 64)) * 64),
    "raw snappy": (Codec.SNAPPY, lambda size: bytes(cramjam.snappy.compress_raw(bytes(size)))),
    "framed snappy": (Codec.SNAPPY, xerial_bomb),
    "lz4": (Codec.LZ4, lambda size: lz4.frame.compress(bytes(size))),
    "zstd that tells its size": (Codec.ZSTD, lambda size: zstandard.compress(bytes(size))),
    "zstd in many frames": (Codec.ZSTD, lambda size: zstandard.compress(bytes(size // 64)) * 64),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_bounded_memory(name: str) -> None:
    codec, make = BOMBS[name]
    bomb = make(64 * MIB)
    tracemalloc.start()
    try:
        with pytest.raises(RecordError) as refused:
            decompress(codec, bomb, MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE
    assert peak < 8 * MIB


def test_snappy_that_claims_a_huge_size_is_refused_before_anything_is_allocated() -> None:
    claim = b"\xff\xff\xff\xff\x0f"  # 4 GiB - 1
    with pytest.raises(RecordError) as refused:
        decompress(Codec.SNAPPY, claim + b"\x00", MIB)
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE


def test_many_empty_records_are_validated_in_bounded_memory() -> None:
    # Seven bytes a record, and offsets that need three: compressed to almost nothing.
    count = 300_000
    batch = memoryview(
        encode_batch([Record(i, NOW_MS, None, None) for i in range(count)], codec=Codec.ZSTD)
    )
    header = read_header(batch)
    tracemalloc.start()
    try:
        validate_produced(batch, 0, header, ProduceLimits(), NOW_MS)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 * MIB  # one object a record would be some 60
