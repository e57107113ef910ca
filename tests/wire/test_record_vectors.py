"""Batches that Kafka's own Java classes wrote, read and written again here."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.wire.records import (
    BatchFlag,
    Codec,
    ControlType,
    ProduceLimits,
    Record,
    check_crc,
    encode_batch,
    encode_end_marker,
    iterate_records,
    read_end_marker,
    read_header,
    validate_produced,
)

NOW_MS = 1_700_000_000_000
LIMIT_BYTES = 1 << 20
VECTORS = Path(__file__).parent / "vectors" / "java_batches.txt"
THREE_RECORDS = [
    Record(0, NOW_MS, b"k0", b"value" + b" value" * 5, (("hé", b"x"), ("n", None))),
    Record(1, NOW_MS + 5, None, b"v1"),
    Record(2, NOW_MS - 10, b"k2", None),
]


def java_batch(name: str) -> memoryview:
    lines = (line.split() for line in VECTORS.read_text().splitlines() if line[0] != "#")
    return memoryview(bytes.fromhex(dict(lines)[name]))


@pytest.mark.parametrize("codec", Codec)
def test_reads_what_java_wrote_in_every_codec(codec: Codec) -> None:
    batch = java_batch(codec.name.lower())
    header = read_header(batch)
    check_crc(batch, 0, header)
    assert header.codec is codec
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (1234, 5, 77)
    assert header.last_sequence == 79
    assert header.is_transactional
    assert list(iterate_records(batch, 0, header, LIMIT_BYTES)) == THREE_RECORDS


@pytest.mark.parametrize("codec", Codec)
def test_accepts_what_java_produced_and_finds_its_largest_timestamp(codec: Codec) -> None:
    batch = java_batch(codec.name.lower())
    assert validate_produced(batch, 0, read_header(batch), ProduceLimits(), NOW_MS) == NOW_MS + 5


def test_writes_an_uncompressed_batch_byte_for_byte_as_java_does() -> None:
    batch = encode_batch(
        THREE_RECORDS,
        producer_id=1234,
        producer_epoch=5,
        base_sequence=77,
        flags=BatchFlag.TRANSACTIONAL,
    )
    assert batch == java_batch("none")


@pytest.mark.parametrize("control_type", ControlType)
def test_writes_and_reads_the_end_of_a_transaction_as_java_does(control_type: ControlType) -> None:
    expected = java_batch(control_type.name.lower())
    marker = encode_end_marker(
        control_type,
        coordinator_epoch=11,
        producer_id=1234,
        producer_epoch=5,
        timestamp_ms=NOW_MS,
        base_offset=9,
        leader_epoch=3,
    )
    assert marker == expected
    header = read_header(expected)
    assert header.is_control
    assert read_end_marker(expected, 0, header) == (control_type, 11)


def test_every_record_of_an_append_time_batch_carries_the_append_time() -> None:
    batch = java_batch("append_time")
    header = read_header(batch)
    assert header.is_log_append_time
    assert list(iterate_records(batch, 0, header, LIMIT_BYTES)) == [
        Record(7, NOW_MS + 99, b"a", b"b")
    ]


def test_a_batch_that_compaction_emptied_keeps_its_offsets_and_sequence() -> None:
    expected = java_batch("empty")
    header = read_header(expected)
    assert (header.base_offset, header.last_offset, header.record_count) == (40, 49, 0)
    assert header.last_sequence == 77 + 9
    assert list(iterate_records(expected, 0, header, LIMIT_BYTES)) == []
    written = encode_batch(
        [],
        base_offset=40,
        last_offset=49,
        leader_epoch=6,
        producer_id=1234,
        producer_epoch=5,
        base_sequence=77,
        flags=BatchFlag.TRANSACTIONAL,
        max_timestamp=NOW_MS,
    )
    assert written == expected
