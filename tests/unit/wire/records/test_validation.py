"""What a leader refuses from a client, each rule by itself, with Kafka's error code."""

from __future__ import annotations

import struct
from collections.abc import Callable

import crc32c
import pytest

from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    BatchFlag,
    Codec,
    ProduceLimits,
    Record,
    RejectedRecordsError,
    encode_batch,
    read_header,
    read_produced,
    validate_produced,
)

NOW_MS = 1_700_000_000_000
LIMITS = ProduceLimits()
RECORDS = [Record(i, NOW_MS + i, b"k", b"v%d" % i) for i in range(3)]


def validate(batch: bytes | bytearray, limits: ProduceLimits = LIMITS) -> int:
    view = memoryview(batch)
    return validate_produced(view, 0, read_header(view), limits, NOW_MS)


def refusal(batch: bytes | bytearray, limits: ProduceLimits = LIMITS) -> RecordError:
    with pytest.raises(RecordError) as refused:
        validate(batch, limits)
    return refused.value


def changed(position: int, form: str, value: int) -> bytearray:
    """RECORDS with one header field changed and the CRC made right again."""
    batch = encode_batch(RECORDS)
    struct.pack_into(form, batch, position, value)
    struct.pack_into(">I", batch, 17, crc32c.crc32c(bytes(batch[21:])))
    return batch


def test_a_plain_batch_is_valid_and_tells_its_largest_timestamp() -> None:
    assert validate(encode_batch(RECORDS)) == NOW_MS + 2


def test_the_largest_timestamp_is_the_records_whatever_the_header_claims() -> None:
    assert validate(encode_batch(RECORDS, max_timestamp=5)) == NOW_MS + 2


def test_records_without_timestamps_have_none() -> None:
    assert validate(encode_batch([Record(0, -1, b"k", b"v")])) == -1


def test_a_base_offset_is_the_brokers_to_assign() -> None:
    records = [record._replace(offset=record.offset + 5) for record in RECORDS]
    assert refusal(encode_batch(records, base_offset=5)).code is ErrorCode.INVALID_RECORD


def test_the_batch_size_limit_counts_the_whole_batch() -> None:
    batch = encode_batch(RECORDS)
    assert validate(batch, ProduceLimits(max_batch_bytes=len(batch)))
    too_small = ProduceLimits(max_batch_bytes=len(batch) - 1)
    assert refusal(batch, too_small).code is ErrorCode.MESSAGE_TOO_LARGE


def test_a_damaged_batch_is_corrupt() -> None:
    batch = encode_batch(RECORDS)
    batch[-1] ^= 1
    assert refusal(batch).code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("position", "form", "value"),
    [(57, ">i", 2), (57, ">i", 4), (57, ">i", 0), (57, ">i", -1), (23, ">i", 3), (23, ">i", -1)],
)
def test_the_count_must_match_the_offsets(position: int, form: str, value: int) -> None:
    assert refusal(changed(position, form, value)).code is ErrorCode.INVALID_RECORD


def test_an_empty_batch_is_refused() -> None:
    assert refusal(encode_batch([], last_offset=-1)).code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    "make",
    [
        lambda: encode_batch(
            RECORDS,
            producer_id=1,
            producer_epoch=0,
            base_sequence=0,
            flags=BatchFlag.CONTROL | BatchFlag.TRANSACTIONAL,
        ),
        lambda: encode_batch(RECORDS, flags=BatchFlag.TRANSACTIONAL),
        lambda: encode_batch(RECORDS, producer_id=1, producer_epoch=0, base_sequence=-1),
        lambda: encode_batch(RECORDS, producer_id=1, producer_epoch=-1, base_sequence=0),
    ],
    ids=["control", "transactional without id", "id without sequence", "id without epoch"],
)
def test_flags_and_producer_fields_must_agree(make: Callable[[], bytearray]) -> None:
    assert refusal(make()).code is ErrorCode.INVALID_RECORD


def test_idempotent_and_transactional_batches_are_valid() -> None:
    for flags in (0, BatchFlag.TRANSACTIONAL):
        batch = encode_batch(RECORDS, producer_id=1, producer_epoch=0, base_sequence=0, flags=flags)
        assert validate(batch) == NOW_MS + 2


@pytest.mark.parametrize("codec", Codec)
def test_record_offsets_must_follow_each_other(codec: Codec) -> None:
    records = [RECORDS[0], RECORDS[2]._replace(offset=0), RECORDS[2]]
    error = refusal(encode_batch(records, codec=codec))
    assert error.code is ErrorCode.INVALID_RECORD


def test_offsets_are_checked_beyond_the_first_few_thousand_records() -> None:
    records = [Record(i, NOW_MS, None, b"") for i in range(10_000)]
    assert validate(encode_batch(records)) == NOW_MS
    records[9_500] = Record(9_501, NOW_MS, None, b"")
    assert refusal(encode_batch(records)).code is ErrorCode.INVALID_RECORD


def test_a_compacted_topic_names_the_records_without_key() -> None:
    records = [
        RECORDS[0],
        RECORDS[1]._replace(key=None),
        RECORDS[2]._replace(key=b""),
    ]
    assert validate(encode_batch(records))
    error = refusal(encode_batch(records), ProduceLimits(compacted=True))
    assert error.code is ErrorCode.INVALID_RECORD
    assert isinstance(error, RejectedRecordsError)
    assert [index for index, _ in error.record_errors] == [1]


@pytest.mark.parametrize(
    ("offset_ms", "before_ms", "after_ms", "valid"),
    [
        (-100, 100, 0, True),
        (-101, 100, 0, False),
        (50, 0, 50, True),
        (51, 0, 50, False),
    ],
)
def test_timestamps_stay_within_the_topics_bounds(
    offset_ms: int, before_ms: int, after_ms: int, valid: bool
) -> None:
    limits = ProduceLimits(timestamp_before_max_ms=before_ms, timestamp_after_max_ms=after_ms)
    batch = encode_batch([RECORDS[0], Record(1, NOW_MS + offset_ms, b"k", b"v")])
    if valid:
        assert validate(batch, limits) == NOW_MS + max(0, offset_ms)
        return
    error = refusal(batch, limits)
    assert error.code is ErrorCode.INVALID_TIMESTAMP
    assert isinstance(error, RejectedRecordsError)
    assert [index for index, _ in error.record_errors] == [1]


def test_no_bound_applies_to_a_record_without_timestamp() -> None:
    limits = ProduceLimits(timestamp_before_max_ms=0, timestamp_after_max_ms=0)
    assert validate(encode_batch([Record(0, -1, b"k", b"v")]), limits) == -1


def test_no_bound_applies_where_the_broker_sets_the_times() -> None:
    limits = ProduceLimits(log_append_time=True, timestamp_before_max_ms=0)
    assert validate(encode_batch([Record(0, 5, b"k", b"v")]), limits) == 5


def test_a_producer_must_not_claim_append_times_where_the_broker_sets_them() -> None:
    batch = encode_batch(RECORDS, flags=BatchFlag.LOG_APPEND_TIME)
    error = refusal(batch, ProduceLimits(log_append_time=True))
    assert error.code is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("codec", [c for c in Codec if c is not Codec.NONE])
def test_decompression_stays_within_its_bound(codec: Codec) -> None:
    batch = encode_batch([Record(0, NOW_MS, b"k", bytes(10_000))], codec=codec)
    assert validate(batch, ProduceLimits(max_decompressed_bytes=20_000))
    error = refusal(batch, ProduceLimits(max_decompressed_bytes=5_000))
    assert error.code is ErrorCode.MESSAGE_TOO_LARGE


def test_a_produce_request_holds_one_batch_a_partition() -> None:
    batch = bytes(encode_batch(RECORDS))
    assert read_produced(memoryview(batch), 9).record_count == 3
    assert read_produced(memoryview(batch + batch[:20]), 9).size == len(batch)
    for records in (b"", batch[:-1], batch + batch):
        with pytest.raises(RecordError) as refused:
            read_produced(memoryview(records), 9)
        assert refused.value.code is ErrorCode.INVALID_RECORD


def test_what_cannot_be_a_batch_is_corrupt_even_where_it_is_incomplete() -> None:
    batch = bytes(encode_batch(RECORDS))
    impossible = batch[:16] + b"\x07"
    for records in (impossible, bytes(40), batch + impossible, batch + bytes(40)):
        with pytest.raises(RecordError) as refused:
            read_produced(memoryview(records), 9)
        assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


def test_old_message_formats_are_refused_in_a_produce_request() -> None:
    batch = encode_batch(RECORDS)
    batch[16] = 1
    with pytest.raises(RecordError) as refused:
        read_produced(memoryview(batch), 9)
    assert refused.value.code is ErrorCode.INVALID_RECORD


def test_zstd_needs_produce_version_7() -> None:
    batch = memoryview(encode_batch(RECORDS, codec=Codec.ZSTD))
    assert read_produced(batch, 7).codec is Codec.ZSTD
    with pytest.raises(RecordError) as refused:
        read_produced(batch, 6)
    assert refused.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_records_from_before_1970_cannot_be_compressed_anew() -> None:
    batch = encode_batch([Record(0, 5, b"a", b"1"), Record(1, -2, b"b", b"2")])
    assert validate(batch, ProduceLimits(compression=Codec.NONE))
    error = refusal(batch, ProduceLimits(compression=Codec.GZIP))
    assert error.code is ErrorCode.INVALID_TIMESTAMP
