"""Any records survive encoding and decoding, here and in two other implementations."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, TypeAlias

from aiokafka.record.default_records import (
    DefaultRecordBatch as AiokafkaBatch,
)
from aiokafka.record.default_records import (
    DefaultRecordBatchBuilder as AiokafkaBuilder,
)
from hypothesis import given
from hypothesis import strategies as st

from logquake.wire.records import (
    Codec,
    ProduceLimits,
    Record,
    check_crc,
    encode_batch,
    iterate_batches,
    iterate_records,
    read_header,
    recompress,
    validate_produced,
)

with warnings.catch_warnings():
    # kafka-python reads its schemas by a deprecated call while it is imported.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record.default_records import DefaultRecordBatch as KafkaPythonBatch
    from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder

LIMIT_BYTES = 1 << 20
NOW_MS = 1_700_000_000_000

payloads = st.none() | st.binary(max_size=200)
header_lists = st.lists(st.tuples(st.text(max_size=10), payloads), max_size=4).map(tuple)
codecs = st.sampled_from(Codec)
# Its snappy wants a package that nothing else here needs.
kafka_python_codecs = st.sampled_from([codec for codec in Codec if codec is not Codec.SNAPPY])

Builder: TypeAlias = Any  # AiokafkaBuilder | KafkaPythonBuilder, which have no types


@st.composite
def record_lists(draw: st.DrawFn, max_gap: int = 0) -> list[Record]:
    offset = draw(st.integers(0, 2**40)) if max_gap else 0
    records = []
    for _ in range(draw(st.integers(1, 12))):
        timestamp_ms = draw(st.integers(0, 2**45))
        records.append(
            Record(offset, timestamp_ms, draw(payloads), draw(payloads), draw(header_lists))
        )
        offset += 1 + (draw(st.integers(0, max_gap)) if max_gap else 0)
    return records


def read_all(batch: bytes | bytearray | memoryview) -> list[Record]:
    view = memoryview(batch)
    header = read_header(view)
    check_crc(view, 0, header)
    return list(iterate_records(view, 0, header, LIMIT_BYTES))


@given(records=record_lists(max_gap=1000), codec=codecs)
def test_records_with_gaps_come_back_as_they_went(records: list[Record], codec: Codec) -> None:
    batch = encode_batch(records, codec=codec, base_offset=records[0].offset)
    assert read_all(batch) == records


@given(records=record_lists(), codec=codecs)
def test_what_is_encoded_is_valid_to_produce(records: list[Record], codec: Codec) -> None:
    batch = memoryview(encode_batch(records, codec=codec))
    latest = validate_produced(batch, 0, read_header(batch), ProduceLimits(), NOW_MS)
    assert latest == max(record.timestamp_ms for record in records)


@given(records=record_lists(), before=codecs, after=codecs)
def test_recompressing_changes_the_codec_alone(
    records: list[Record], before: Codec, after: Codec
) -> None:
    batch = memoryview(
        encode_batch(records, codec=before, producer_id=9, producer_epoch=1, base_sequence=4)
    )
    header = read_header(batch)
    again = recompress(batch, 0, header, after, LIMIT_BYTES)
    renewed = read_header(memoryview(again))
    assert renewed.codec is after
    assert read_all(again) == records
    assert renewed[6:] == header[6:]  # from last_offset_delta on


@given(batches=st.lists(record_lists(), max_size=4), cut=st.integers(0, 60))
def test_a_run_of_batches_is_walked_up_to_the_incomplete_last(
    batches: list[list[Record]], cut: int
) -> None:
    encoded = [encode_batch(records) for records in batches]
    incomplete = encode_batch([Record(0, 1, b"k", b"v")])[:cut]
    found = list(iterate_batches(memoryview(b"".join(encoded) + incomplete)))
    assert [header.size for _, header in found] == [len(batch) for batch in encoded]
    assert [position for position, _ in found] == [
        sum(map(len, encoded[:index])) for index in range(len(encoded))
    ]


def seen_elsewhere(batch: Iterable[Any]) -> list[Record]:
    return [
        Record(
            record.offset,
            -1 if record.timestamp is None else record.timestamp,
            record.key,
            record.value,
            tuple(record.headers),
        )
        for record in batch
    ]


@given(records=record_lists(), codec=codecs)
def test_aiokafka_reads_what_is_written(records: list[Record], codec: Codec) -> None:
    batch = AiokafkaBatch(bytes(encode_batch(records, codec=codec)))
    assert batch.validate_crc()
    assert seen_elsewhere(batch) == records


@given(records=record_lists(), codec=kafka_python_codecs)
def test_kafka_python_reads_what_is_written(records: list[Record], codec: Codec) -> None:
    batch = KafkaPythonBatch(bytes(encode_batch(records, codec=codec)))
    assert batch.validate_crc()
    assert seen_elsewhere(batch) == records


def check_written_elsewhere(records: list[Record], builder: Builder) -> None:
    for record in records:
        builder.append(
            record.offset, record.timestamp_ms, record.key, record.value, list(record.headers)
        )
    batch = memoryview(bytes(builder.build()))
    assert read_all(batch) == records
    validate_produced(batch, 0, read_header(batch), ProduceLimits(), NOW_MS)


@given(records=record_lists(), codec=codecs)
def test_what_aiokafka_writes_is_read_and_valid(records: list[Record], codec: Codec) -> None:
    check_written_elsewhere(records, AiokafkaBuilder(2, codec, 0, -1, -1, -1, LIMIT_BYTES))


@given(records=record_lists(), codec=kafka_python_codecs)
def test_what_kafka_python_writes_is_read_and_valid(records: list[Record], codec: Codec) -> None:
    check_written_elsewhere(records, KafkaPythonBuilder(2, codec, 0, -1, -1, -1, LIMIT_BYTES))
