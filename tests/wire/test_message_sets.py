"""Message sets of magic 0 and 1: other implementations, hostile bytes, conversion both ways."""

from __future__ import annotations

import struct
import tracemalloc
import warnings
import zlib
from typing import Any

import lz4.frame
import pytest
from aiokafka.record.legacy_records import LegacyRecordBatch as AiokafkaBatch
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder as AiokafkaBuilder
from hypothesis import example, given, settings
from hypothesis import strategies as st

from logquake.wire.compression import decompress, decompress_for_magic
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    BatchFlag,
    Codec,
    ControlType,
    ProduceLimits,
    Record,
    check_crc,
    convert_produced,
    down_convert,
    encode_batch,
    encode_end_marker,
    encode_message_set,
    iterate_batches,
    iterate_records,
    read_header,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record.legacy_records import LegacyRecordBatch as KafkaPythonBatch
    from kafka.record.legacy_records import LegacyRecordBatchBuilder as KafkaPythonBuilder

LIMIT_BYTES = 1 << 20
NOW_MS = 1_700_000_000_000
MAGIC_LIMITS = {"limit_bytes": LIMIT_BYTES, "max_bytes": LIMIT_BYTES}

magics = st.sampled_from((0, 1))
codecs = st.sampled_from((Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4))
payloads = st.none() | st.binary(max_size=100)
HERE_ALONE = ((0, Codec.LZ4),)  # nobody else reads the wrong checksums of those frames


@st.composite
def record_lists(draw: st.DrawFn, max_gap: int = 0, largest_offset: int = 2**40) -> list[Record]:
    offset = draw(st.integers(1, largest_offset)) if max_gap else 0
    records = []
    for _ in range(draw(st.integers(1, 10))):
        records.append(Record(offset, draw(st.integers(0, 2**45)), draw(payloads), draw(payloads)))
        offset += 1 + (draw(st.integers(0, max_gap)) if max_gap else 0)
    return records


def read_all(data: bytes) -> list[Record]:
    view = memoryview(data)
    records: list[Record] = []
    for position, header in iterate_batches(view):
        check_crc(view, position, header)
        records += iterate_records(view, position, header, LIMIT_BYTES)
    return records


def as_magic(magic: int, records: list[Record]) -> list[Record]:
    return records if magic else [record._replace(timestamp_ms=-1) for record in records]


@given(records=record_lists(max_gap=50), magic=magics, codec=codecs)
def test_records_come_back_as_they_went(records: list[Record], magic: int, codec: Codec) -> None:
    assert read_all(encode_message_set(records, magic, codec=codec)) == as_magic(magic, records)


@given(records=record_lists(), codec=codecs)
def test_append_times_are_every_records(records: list[Record], codec: Codec) -> None:
    data = encode_message_set(records, 1, codec=codec, append_time_ms=NOW_MS)
    assert {record.timestamp_ms for record in read_all(data)} == {NOW_MS}
    assert all(header.is_log_append_time for _, header in iterate_batches(memoryview(data)))


@given(records=record_lists(), magic=magics, codec=codecs)
def test_aiokafka_and_kafka_python_write_what_is_read_here(
    records: list[Record], magic: int, codec: Codec
) -> None:
    for builder_type in (AiokafkaBuilder, KafkaPythonBuilder):
        if not _speaks(builder_type, magic, codec):
            continue
        data = _built(builder_type, records, magic, codec)
        assert read_all(data) == as_magic(magic, records)
        if codec is Codec.NONE:
            assert encode_message_set(records, magic) == data


@given(records=record_lists(), magic=magics, codec=codecs)
def test_aiokafka_and_kafka_python_read_what_is_written_here(
    records: list[Record], magic: int, codec: Codec
) -> None:
    data = encode_message_set(records, magic, codec=codec)
    for batch_type in (AiokafkaBatch, KafkaPythonBatch):
        if not _speaks(batch_type, magic, codec):
            continue
        seen = [
            Record(
                each.offset, -1 if each.timestamp is None else each.timestamp, each.key, each.value
            )
            for position, header in iterate_batches(memoryview(data))
            for each in _validated(batch_type(data[position : position + header.size], magic))
        ]
        assert seen == as_magic(magic, records)


def _speaks(peer: Any, magic: int, codec: Codec) -> bool:
    without_snappy = "kafka.record" in peer.__module__ and codec is Codec.SNAPPY
    return (magic, codec) not in HERE_ALONE and not without_snappy


def _built(builder_type: Any, records: list[Record], magic: int, codec: Codec) -> bytes:
    builder = builder_type(magic=magic, compression_type=int(codec), batch_size=1 << 20)
    for offset, timestamp_ms, key, value, _ in records:
        builder.append(offset, timestamp=timestamp_ms, key=key, value=value)
    return bytes(builder.build())


def _time_of(record: Any) -> int:
    return -1 if record.timestamp is None else record.timestamp


def _validated(batch: Any) -> Any:
    assert batch.validate_crc()
    return batch


def test_lz4_of_magic_0_has_the_wrong_checksum_that_java_writes() -> None:
    """KAFKA-3160. The bytes are those of Kafka 3.9.1's Lz4BlockOutputStream."""
    data = encode_message_set([Record(0, 0, None, b"a" * 100)], 0, codec=Codec.LZ4)
    frame = data[26:]
    assert frame[:7].hex() == "04224d1860401a"
    sound = encode_message_set([Record(0, 0, None, b"a" * 100)], 1, codec=Codec.LZ4)[34:]
    assert sound[:7].hex() == "04224d18604082"


def test_lz4_of_magic_0_is_read_whatever_its_checksum() -> None:
    for content_size in (False, True):
        frame = bytearray(
            lz4.frame.compress(b"content", block_linked=False, store_size=content_size)
        )
        frame[14 if content_size else 6] ^= 0x55
        with pytest.raises(RecordError):
            decompress(Codec.LZ4, frame, 100)
        assert decompress_for_magic(0, Codec.LZ4, frame, 100) == b"content"


# Conversion


@given(records=record_lists(), magic=magics, codec=codecs)
def test_what_old_producers_send_becomes_one_batch(
    records: list[Record], magic: int, codec: Codec
) -> None:
    data = memoryview(encode_message_set(records, magic, codec=codec))
    batch = convert_produced(data, ProduceLimits(), NOW_MS, lambda _: None)
    assert batch is not None
    header = read_header(memoryview(batch))
    assert (header.magic, header.codec, header.record_count) == (2, codec, len(records))
    assert read_all(bytes(batch)) == as_magic(magic, records)
    assert header.max_timestamp == max(r.timestamp_ms for r in as_magic(magic, records))


@given(batches=st.lists(record_lists(), min_size=1, max_size=4), magic=magics, codec=codecs)
def test_old_consumers_get_the_records_in_the_bytes_they_asked_for(
    batches: list[list[Record]], magic: int, codec: Codec
) -> None:
    offset, parts, records = 0, [], []
    for batch in batches:
        placed = [record._replace(offset=offset + at) for at, record in enumerate(batch)]
        parts.append(bytes(encode_batch(placed, codec=codec, base_offset=offset)))
        records += placed
        offset += len(batch)
    log = memoryview(b"".join(parts))
    converted = down_convert(log, magic, 0, **MAGIC_LIMITS)
    first = len(down_convert(log[: len(parts[0])], magic, 0, **MAGIC_LIMITS))
    assert len(converted) in (len(log), max(len(log), first))
    seen = read_all(converted)
    assert seen == as_magic(magic, records)[: len(seen)]
    assert len(seen) >= len(batches[0])


def test_records_before_the_fetch_offset_are_left_out_unless_compressed() -> None:
    records = [Record(at, NOW_MS, None, b"v") for at in range(3)]
    for codec, expected in ((Codec.NONE, [2]), (Codec.GZIP, [0, 1, 2])):
        log = memoryview(encode_batch(records, codec=codec))
        seen = read_all(down_convert(log, 1, 2, **MAGIC_LIMITS))
        assert [record.offset for record in seen] == expected


def marker(offset: int) -> bytes:
    return bytes(
        encode_end_marker(
            ControlType.ABORT,
            coordinator_epoch=0,
            producer_id=1,
            producer_epoch=0,
            timestamp_ms=NOW_MS,
            base_offset=offset,
        )
    )


def transactional(offset: int) -> bytes:
    return bytes(
        encode_batch(
            [Record(offset, NOW_MS, None, b"x" * 200)],
            base_offset=offset,
            producer_id=1,
            producer_epoch=0,
            base_sequence=0,
            flags=BatchFlag.TRANSACTIONAL,
        )
    )


def test_old_consumers_see_transactions_but_not_their_ends() -> None:
    log = memoryview(marker(0) + transactional(1) + marker(2) + transactional(3))
    seen = read_all(down_convert(log, 1, 0, **MAGIC_LIMITS))
    assert [record.offset for record in seen] == [1, 3]


def test_where_only_ends_of_transactions_lie_a_message_begins_that_never_ends() -> None:
    """So that the consumer knows that something is there which it cannot read."""
    converted = down_convert(memoryview(marker(0)), 1, 0, **MAGIC_LIMITS)
    assert struct.unpack(">qi", converted) == (-1, 61)


def test_conversion_stops_at_its_bound_and_gives_one_batch_at_least() -> None:
    log = memoryview(b"".join(transactional(at) for at in range(2000)))
    converted = down_convert(log, 0, 0, limit_bytes=LIMIT_BYTES, max_bytes=0)
    assert [record.offset for record in read_all(converted)] == [0]
    converted = down_convert(log, 0, 0, limit_bytes=LIMIT_BYTES, max_bytes=1000)
    assert 1 < len(read_all(converted)) < 2000


def test_older_entries_of_a_log_are_sent_as_they_are() -> None:
    old = encode_message_set([Record(0, NOW_MS, b"k", b"v")], 0)
    newer = encode_message_set([Record(1, NOW_MS, b"k", b"v")], 1)
    log = memoryview(old + newer + transactional(2))
    converted = down_convert(log, 1, 0, **MAGIC_LIMITS)
    assert converted.startswith(old + newer)
    magics_of_0 = [
        h.magic for _, h in iterate_batches(memoryview(down_convert(log, 0, 0, **MAGIC_LIMITS)))
    ]
    assert magics_of_0 == [0, 0, 0]


# Hostile bytes

VALID = encode_message_set([Record(i, NOW_MS, b"key", b"value" * i) for i in range(4)], 1)


def wrapper(magic: int, codec: int, value: bytes, offset: int) -> bytes:
    """An entry with a right CRC around any value."""
    head = struct.pack(">BB", magic, codec) + (struct.pack(">q", NOW_MS) if magic else b"")
    checked = head + struct.pack(">ii", -1, len(value)) + value
    return struct.pack(">qiI", offset, len(checked) + 4, zlib.crc32(checked)) + checked


def try_everything(data: bytes) -> None:
    """Read, produce and convert it; only RecordError may come out."""
    view = memoryview(data)
    for attempt in (
        lambda: read_all(data),
        lambda: convert_produced(view, ProduceLimits(), NOW_MS, lambda _: None),
        lambda: down_convert(view, 0, 0, **MAGIC_LIMITS),
        lambda: down_convert(view, 1, 0, **MAGIC_LIMITS),
    ):
        try:
            attempt()
        except RecordError:
            continue


@settings(max_examples=300)
@given(
    magic=st.integers(0, 2),
    codec=st.integers(0, 255),
    value=st.binary(max_size=80),
    offset=st.integers(-(2**63), 2**63 - 1),
)
def test_a_hostile_entry_with_a_right_checksum_is_refused_or_read(
    magic: int, codec: int, value: bytes, offset: int
) -> None:
    try_everything(wrapper(magic, codec, value, offset))


@settings(max_examples=300)
@given(
    magic=magics,
    flips=st.dictionaries(st.integers(0, len(VALID) - 1), st.integers(0, 255)),
    offset=st.integers(-2, 2**63 - 1),
)
@example(magic=1, flips={1: 226}, offset=9_159_758_692_118_167_555)  # past the largest offset
def test_hostile_messages_within_a_wrapper_are_refused_or_read(
    magic: int, flips: dict[int, int], offset: int
) -> None:
    inner = bytearray(VALID)
    for position, value in flips.items():
        inner[position] = value
    packed = zlib.compressobj(wbits=31)
    compressed = packed.compress(bytes(inner)) + packed.flush()
    try_everything(wrapper(magic, Codec.GZIP, compressed, offset))


@given(data=st.binary(max_size=60), magic=magics)
def test_any_bytes_with_an_old_magic_are_refused_or_read(data: bytes, magic: int) -> None:
    if len(data) > 16:
        data = data[:16] + bytes([magic]) + data[17:]
    try_everything(data)


@settings(max_examples=300)
@given(flips=st.dictionaries(st.integers(12, 60), st.integers(1, 255), min_size=1))
def test_a_damaged_message_is_never_taken(flips: dict[int, int]) -> None:
    entry = encode_message_set([Record(0, NOW_MS, b"key", b"value" * 5)], 1)
    damaged = bytearray(entry)
    for position, bits in flips.items():
        if position < len(damaged):
            damaged[position] ^= bits
    if bytes(damaged) == entry:
        return
    with pytest.raises(RecordError):
        convert_produced(memoryview(damaged), ProduceLimits(), NOW_MS, lambda _: None)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_small_wrapper_of_much_is_refused_in_bounded_memory(magic: int) -> None:
    empty = encode_message_set([Record(0, 0, None, None)], magic)
    packed = zlib.compressobj(wbits=31)
    value = packed.compress(empty * 2_000_000 if magic == 0 else empty * 1_500_000)
    bomb = wrapper(magic, Codec.GZIP, value + packed.flush(), 0)
    assert len(bomb) < 1 << 20
    tracemalloc.start()
    try:
        limits = ProduceLimits(max_decompressed_bytes=1 << 22)
        with pytest.raises(RecordError) as refused:
            convert_produced(memoryview(bomb), limits, NOW_MS, lambda _: None)
        assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE
        assert tracemalloc.get_traced_memory()[1] < 1 << 25
    finally:
        tracemalloc.stop()


def test_an_uncompressed_set_is_refused_as_soon_as_its_batch_is_too_large() -> None:
    data = memoryview(encode_message_set([Record(0, 0, None, b"x" * 50)], 0) * 1000)
    with pytest.raises(RecordError) as refused:
        convert_produced(data, ProduceLimits(max_batch_bytes=5000), NOW_MS, lambda _: None)
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE
