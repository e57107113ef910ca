"""Building batches: the edges that the compiled encoder knows nothing of."""

from __future__ import annotations

import pytest

from logquake.wire.records import (
    BatchFlag,
    Codec,
    Record,
    check_crc,
    encode_batch,
    iterate_records,
    read_header,
    recompress,
)


def read_back(batch: bytearray) -> list[Record]:
    view = memoryview(batch)
    header = read_header(view)
    check_crc(view, 0, header)
    return list(iterate_records(view, 0, header, 1 << 20))


@pytest.mark.parametrize("first", [-1, 0, 1])
def test_timestamps_around_the_encoders_own_sentinel_survive(first: int) -> None:
    records = [Record(0, first, b"k", b"v"), Record(1, 5000, b"k", b"v"), Record(2, -1, b"", b"")]
    assert read_back(encode_batch(records)) == records


def test_compaction_keeps_the_last_offset_and_the_delete_horizon() -> None:
    records = [Record(12, 900, b"k", None), Record(15, 1100, b"q", b"v")]
    batch = encode_batch(
        records,
        base_offset=10,
        last_offset=19,
        flags=BatchFlag.DELETE_HORIZON,
        base_timestamp=123_456,
    )
    header = read_header(memoryview(batch))
    assert (header.base_offset, header.last_offset, header.record_count) == (10, 19, 2)
    assert header.has_delete_horizon
    assert header.base_timestamp == 123_456
    assert read_back(batch) == records


def test_a_batch_of_nothing_needs_to_be_told_where_it_ends() -> None:
    with pytest.raises(ValueError, match="last offset"):
        encode_batch([])


def test_a_batch_larger_than_any_default_is_one_batch() -> None:
    records = [Record(i, i, None, bytes(100_000)) for i in range(30)]
    assert read_back(encode_batch(records)) == [*records]


def recompressed(batch: bytearray) -> bytearray:
    view = memoryview(batch)
    return recompress(view, 0, read_header(view), Codec.GZIP, 1 << 20)


@pytest.mark.parametrize("flags", [0, 0x0480, BatchFlag.DELETE_HORIZON])
def test_a_recompressed_batch_is_as_built_from_its_records(flags: int) -> None:
    """Whatever its producer wrote besides: times relative to another, flags of no meaning."""
    records = [Record(0, 50, b"a", b"1"), Record(1, 40, None, None)]
    odd = encode_batch(records, flags=flags, base_timestamp=7)
    assert recompressed(odd) == encode_batch(records, codec=Codec.GZIP)


def test_a_recompressed_batch_with_append_times_has_records_of_that_time() -> None:
    odd = encode_batch([Record(0, 5, b"a", b"1")], flags=BatchFlag.LOG_APPEND_TIME, max_timestamp=9)
    (record,) = read_back(recompressed(odd))
    header = read_header(memoryview(recompressed(odd)))
    assert (record.timestamp_ms, header.base_timestamp) == (9, 9)
