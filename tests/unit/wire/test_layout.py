"""Where the fields of a batch's header lie: as Kafka's DefaultRecordBatch says, in bytes."""

from __future__ import annotations

from logquake.wire.records import BatchFlag, claims_transaction, encode_batch, layout, read_header
from logquake.wire.records.record import Record

BATCH = memoryview(encode_batch([Record(0, 1_000, None, b"value")], flags=BatchFlag.TRANSACTIONAL))


def test_each_field_is_where_kafka_has_it() -> None:
    assert layout.HEADER_BYTES == 61
    assert (layout.LENGTH_POSITION, layout.LENGTH_OVERHEAD) == (8, 12)
    assert (layout.LEADER_EPOCH_POSITION, layout.MAGIC_POSITION) == (12, 16)
    assert (layout.CRC_POSITION, layout.ATTRIBUTES_POSITION) == (17, 21)
    assert layout.MAX_TIMESTAMP_POSITION == 35


def test_a_batch_says_how_large_it_is() -> None:
    assert layout.batch_bytes(BATCH) == len(BATCH) == read_header(BATCH).size


def test_the_transactional_flag_is_read_of_whole_headers_alone() -> None:
    assert claims_transaction(BATCH)
    assert not claims_transaction(BATCH[:60])
    assert not claims_transaction(memoryview(encode_batch([Record(0, 1_000, None, b"v")])))
    assert not claims_transaction(memoryview(bytes(100)))
