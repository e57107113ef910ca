"""Building batches: the edges that the compiled encoder knows nothing of."""

from __future__ import annotations

import pytest

from logquake.wire.records import (
    BatchFlag,
    Record,
    check_crc,
    encode_batch,
    iterate_records,
    read_header,
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
