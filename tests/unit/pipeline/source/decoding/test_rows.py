"""Stored batches as Arrow columns: the same rows as the records' own codec has, in the connector's
types.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logquake.client.consumer.fetch.batches import StoredBatch
from logquake.pipeline.source.planning import OffsetRange
from logquake.pipeline.source.record_columns import COLUMNS, HEADERS, USUAL, schema_of
from logquake.wire.errors import RecordError
from logquake.wire.records import (
    HEADER_BYTES,
    BatchFlag,
    Codec,
    Record,
    encode_batch,
    encode_message_set,
    iterate_records,
    read_header,
)

pa = pytest.importorskip("pyarrow", reason="the extra logquake[spark] is not installed")

LIMIT_BYTES = 1 << 20
EVERY_OFFSET = OffsetRange("t", 3, 0, 1 << 62)
ALL = tuple(COLUMNS)

seeds = st.integers(0, 2**32)  # drawing each record by itself takes minutes


def stored_batches(random: Random) -> list[StoredBatch]:
    """With gaps, in all codecs, of times of either kind."""
    offset = random.randint(0, 2**40)
    stored = []
    for _ in range(random.randint(1, 4)):
        base_offset = offset
        records = []
        for _ in range(random.choice([1, 3, 80])):
            records.append(any_record(random, offset))
            offset += random.randint(1, 3)
        flags = random.choice([0, int(BatchFlag.LOG_APPEND_TIME)])
        codec = random.choice(list(Codec))
        stored.append(batch_of(records, base_offset=base_offset, codec=codec, flags=flags))
    return stored


def any_record(random: Random, offset: int) -> Record:
    headers = [(random.choice(["", "h", "h\u00e9"]), any_bytes(random))] * random.choice(
        [0, 0, 1, 3]
    )
    time_ms = random.choice([-1, 0, random.randint(0, 2**45)])
    return Record(offset, time_ms, any_bytes(random), any_bytes(random), tuple(headers))


def any_bytes(random: Random) -> bytes | None:
    return random.choice([None, random.randbytes(random.choice([0, 1, 70, 200]))])


def batch_of(records: Sequence[Record], **keys: Any) -> StoredBatch:
    return stored(bytes(encode_batch(records, **keys)))


def stored(raw: bytes) -> StoredBatch:
    view = memoryview(raw)
    return StoredBatch(read_header(view), view, 0, 0)


def taken(
    batches: Sequence[StoredBatch],
    wanted: OffsetRange = EVERY_OFFSET,
    names: Sequence[str] = ALL,
) -> list[dict[str, Any]]:
    from logquake.pipeline.source.decoding.rows import Rows

    rows = Rows(wanted, names, LIMIT_BYTES)
    for batch in batches:
        rows.add(batch._replace(first_offset=wanted.start))
    found = list(rows.take())
    for each in found:
        each.validate(full=True)
    return [row for each in found for row in plain(each).to_pylist()]


def plain(rows: Any) -> Any:
    """With times as numbers."""
    if "timestamp" not in rows.schema.names:
        return rows
    place = rows.schema.get_field_index("timestamp")
    return rows.set_column(place, "timestamp", rows.column("timestamp").cast(pa.int64()))


def expected(
    batches: Sequence[StoredBatch],
    wanted: OffsetRange = EVERY_OFFSET,
    names: Sequence[str] = ALL,
) -> list[dict[str, Any]]:
    """By the codec."""
    rows = []
    for header, view, position, *_ in batches:
        for record in iterate_records(view, position, header, LIMIT_BYTES):
            if wanted.start <= record.offset < wanted.end:
                row = row_of(record, wanted, header.timestamp_type)
                rows.append({name: row[name] for name in names})
    return rows


def row_of(record: Record, place: OffsetRange, time_type: int) -> dict[str, Any]:
    return {
        "key": record.key,
        "value": record.value,
        "topic": place.topic,
        "partition": place.partition,
        "offset": record.offset,
        "timestamp": record.timestamp_ms * 1000,
        "timestampType": time_type,
        HEADERS: [{"key": key, "value": value} for key, value in record.headers] or None,
    }


def test_types_are_the_connectors() -> None:
    from logquake.pipeline.source.decoding.rows import Rows

    rows = Rows(EVERY_OFFSET, (*USUAL, "headers"), LIMIT_BYTES)
    rows.add(batch_of([Record(0, 1700, b"k", None, (("h", b"x"), ("n", None)))]))
    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    (batch,) = rows.take()
    assert batch.schema == pa.schema(
        [
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("us", tz="UTC")),
            ("timestampType", pa.int32()),
            ("headers", pa.list_(header)),
        ]
    )
    assert list(rows.take()) == []  # each row once


@given(seed=seeds)
def test_rows_are_those_of_the_codec(seed: int) -> None:
    batches = stored_batches(Random(seed))
    assert taken(batches) == expected(batches)


@given(seed=seeds, names=st.lists(st.sampled_from(ALL), min_size=1, unique=True))
def test_a_range_ends_within_batches_and_columns_are_had_alone(seed: int, names: list[str]) -> None:
    random = Random(seed)
    batches = stored_batches(random)
    first, last = batches[0].header.base_offset, batches[-1].header.next_offset
    start = random.randint(max(0, first - 2), last)
    wanted = OffsetRange("t", 3, start, random.randint(start, last + 2))
    assert taken(batches, wanted, names) == expected(batches, wanted, names)


@given(seed=seeds)
def test_damaged_records_are_refused_or_read_as_the_codec_does(seed: int) -> None:
    random = Random(seed)
    batches = stored_batches(random)
    damaged = bytearray(bytes(batches[0].view))
    for _ in range(random.randint(1, 3)):
        place = random.randrange(HEADER_BYTES, len(damaged))
        damaged[place] = random.choice([damaged[place] ^ 1, 0, 0x80, 0xFF, random.randrange(256)])
    batches[0] = stored(bytes(damaged))
    try:
        right = expected(batches)
    except RecordError:
        with pytest.raises(RecordError):
            taken(batches)
        return
    if any(abs(row["timestamp"]) >= 1 << 63 for row in right):
        with pytest.raises(RecordError, match="Spark's end before"):
            taken(batches)
        return
    assert taken(batches) == right


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_message_sets_are_read_beside_batches(magic: int, codec: Codec) -> None:
    records = [Record(offset, 5 * magic - (1 - magic), b"k", b"v") for offset in range(3)]
    whole = bytes(encode_message_set(records, magic=magic, codec=codec))
    old = [stored(whole)]
    new = [batch_of([Record(7, 1, None, b"new")], base_offset=7)]
    assert taken(old + new) == expected(old + new)
    assert [row["value"] for row in taken(old + new)][-1] == b"new"
    assert {row["timestampType"] for row in taken(old)} == {magic - 1}  # of magic 0 there is none


def test_records_that_were_small_when_compressed_are_taken_some_at_a_time() -> None:
    from logquake.pipeline.source.decoding.rows import Rows

    rows = Rows(EVERY_OFFSET, ("value",), LIMIT_BYTES)
    value = bytes(LIMIT_BYTES - 100)
    for offset in range(20):
        rows.add(batch_of([Record(offset, 1, None, value)], base_offset=offset, codec=Codec.ZSTD))
    assert not rows.is_full  # as they are stored they are next to nothing
    assert [batch.num_rows for batch in rows.take()] == [9, 9, 2]


def test_a_record_of_a_size_below_0_is_refused() -> None:
    raw = bytearray(encode_batch([Record(0, 1, b"k", b"v")]))
    raw[HEADER_BYTES] ^= 1  # a zigzag's sign
    with pytest.raises(RecordError):
        taken([stored(bytes(raw))])


@pytest.mark.parametrize("time_ms", [-(1 << 63), (1 << 63) - 1])
def test_a_time_that_spark_has_not_is_refused(time_ms: int) -> None:
    raw = bytearray(encode_batch([Record(0, 1, b"k", b"v")]))
    raw[27:35] = time_ms.to_bytes(8, "big", signed=True)  # the base of the batch's times
    with pytest.raises(RecordError, match="Spark's end before"):
        taken([stored(bytes(raw))])


def test_header_keys_that_are_no_text_are_read_as_java_does() -> None:
    raw = bytearray(encode_batch([Record(0, 1, b"k", b"v", (("hh", b"x"),))]))
    at = raw.index(b"hh")
    raw[at] = 0xFF
    batches = [stored(bytes(raw))]
    assert taken(batches) == expected(batches)
    assert taken(batches)[0][HEADERS] == [{"key": "\ufffdh", "value": b"x"}]


@pytest.mark.parametrize("count", [0, 2, 1 << 30, -1])
def test_a_batch_that_says_it_has_another_number_of_records_is_refused(count: int) -> None:
    raw = bytes(encode_batch([Record(0, 1, b"k", b"v")]))
    lying = stored(
        raw[: HEADER_BYTES - 4] + count.to_bytes(4, "big", signed=True) + raw[HEADER_BYTES:]
    )
    with pytest.raises(RecordError):
        taken([lying])


def test_more_headers_than_usual_are_read() -> None:
    records = [Record(0, 1, b"k", b"v", tuple((f"h{n}", b"x") for n in range(500)))]
    batches = [batch_of(records)]
    assert taken(batches) == expected(batches)


def test_the_schema_names_what_was_asked_for() -> None:
    assert schema_of(("partition", "offset")) == "partition int, offset bigint"
