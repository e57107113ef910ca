"""Offsets as bytes of __consumer_offsets."""

from __future__ import annotations

import pytest

from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.node.coordinators.groups.offsets.records import (
    Producer,
    commit_batch,
    offset_key,
    read_offset,
    tombstone_batch,
)
from logquake.wire.compression import Codec
from logquake.wire.errors import ProtocolError
from logquake.wire.records import Record, iterate_records, read_header
from logquake.wire.topic_partition import TopicPartition

ONE = TopicPartition("orders", 3)


def records_of(batch: bytearray) -> list[Record]:
    view = memoryview(batch)
    return list(iterate_records(view, 0, read_header(view), 1 << 20))


def test_a_commit_is_written_in_the_versions_that_kafka_writes() -> None:
    value = OffsetAndMetadata(258, 2, "\u00e9", 16)
    (record,) = records_of(commit_batch("g", {ONE: value}, 99, Codec.NONE))
    assert record.timestamp_ms == 99
    assert record.key == b"\0\1\0\1g\0\6orders\0\0\0\3"
    assert record.value == (
        b"\0\3" + bytes(6) + b"\1\2" + b"\0\0\0\2" + b"\0\2\xc3\xa9" + bytes(7) + b"\x10"
    )
    assert read_offset(record.value) == value


def test_a_commit_that_expires_by_itself_is_of_the_version_that_can_say_so() -> None:
    value = OffsetAndMetadata(258, 2, "", 16, 17)
    (record,) = records_of(commit_batch("g", {ONE: value}, 99, Codec.NONE))
    assert record.value is not None
    assert record.value[:2] == b"\0\1"
    assert read_offset(record.value) == value._replace(leader_epoch=-1)


def test_headers_of_commits() -> None:
    """Kafka gives commits the sequence 0, also those of nobody's."""
    offsets = {ONE: OffsetAndMetadata(1)}
    plain = read_header(memoryview(commit_batch("g", offsets, 0, Codec.NONE)))
    assert (plain.producer_id, plain.producer_epoch, plain.base_sequence) == (-1, -1, 0)
    assert not plain.is_transactional
    batch = commit_batch("g", offsets, 0, Codec.GZIP, Producer(7, 2))
    header = read_header(memoryview(batch))
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 2, 0)
    assert header.is_transactional
    assert header.codec is Codec.GZIP


def test_tombstones_of_offsets_and_of_the_group() -> None:
    batch = tombstone_batch("g", [ONE], 99, Codec.NONE, with_group=True)
    assert [(record.key, record.value) for record in records_of(batch)] == [
        (offset_key("g", ONE), None),
        (b"\0\2\0\1g", None),
    ]
    assert read_header(memoryview(batch)).base_sequence == -1


@pytest.mark.parametrize("value", [b"", b"\0", b"\0\x63", b"\0\3\0"])
def test_values_that_nobody_can_read(value: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_offset(value)
