"""Offsets as records of __consumer_offsets, as Kafka 3.9 writes them (GroupMetadataManager)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.wire.compression import Codec
from logquake.wire.messages.coordinator_records import (
    GroupMetadataKey,
    OffsetCommitKey,
    OffsetCommitValue,
)
from logquake.wire.records import BatchFlag, Record, encode_batch
from logquake.wire.sentinels import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.versioned import decode_versioned, encode_versioned

_OFFSET_KEY_VERSION = 1
_GROUP_KEY_VERSION = 2
_VALUE_VERSION = 3
_VALUE_VERSION_WITH_EXPIRATION = 1  # the only one that has room for it
_NO_EXPIRATION = -1
_FIRST_SEQUENCE = 0  # Kafka writes it whether or not there is a producer


class Producer(NamedTuple):
    """Of a transaction that commits offsets."""

    producer_id: int
    producer_epoch: int


NO_PRODUCER = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


def commit_batch(
    group_id: str,
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
    now_ms: int,
    codec: Codec,
    producer: Producer = NO_PRODUCER,
) -> bytearray:
    """The batch of one commit (generateOffsetRecords); now_ms is the Unix time."""
    records = [
        Record(i, now_ms, offset_key(group_id, partition), _offset_value(value))
        for i, (partition, value) in enumerate(offsets.items())
    ]
    return encode_batch(
        records,
        codec=codec,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=_FIRST_SEQUENCE,
        flags=0 if producer.producer_id == NO_PRODUCER_ID else BatchFlag.TRANSACTIONAL,
    )


def tombstone_batch(
    group_id: str,
    partitions: Sequence[TopicPartition],
    now_ms: int,
    codec: Codec,
    *,
    with_group: bool,
) -> bytearray:
    """The batch that takes offsets out, and the group itself (cleanupGroupMetadata).

    ValueError for neither.
    """
    keys = [offset_key(group_id, partition) for partition in partitions]
    if with_group:
        keys.append(encode_versioned(GroupMetadataKey(group=group_id), _GROUP_KEY_VERSION))
    return encode_batch([Record(i, now_ms, key, None) for i, key in enumerate(keys)], codec=codec)


def offset_key(group_id: str, partition: TopicPartition) -> bytes:
    key = OffsetCommitKey(group=group_id, topic=partition.topic, partition=partition.partition)
    return encode_versioned(key, _OFFSET_KEY_VERSION)


def read_offset(value: bytes) -> OffsetAndMetadata:
    """A record's value, in any version that Kafka 3.9 reads. Raises ProtocolError."""
    read = decode_versioned(OffsetCommitValue, value)
    expire_ms = None if read.expire_timestamp == _NO_EXPIRATION else read.expire_timestamp
    return OffsetAndMetadata(
        read.offset, read.leader_epoch, read.metadata, read.commit_timestamp, expire_ms
    )


def _offset_value(value: OffsetAndMetadata) -> bytes:
    expires = value.expire_ms is not None
    return encode_versioned(
        OffsetCommitValue(
            offset=value.offset,
            leader_epoch=value.leader_epoch,
            metadata=value.metadata,
            commit_timestamp=value.commit_ms,
            expire_timestamp=_NO_EXPIRATION if value.expire_ms is None else value.expire_ms,
        ),
        _VALUE_VERSION_WITH_EXPIRATION if expires else _VALUE_VERSION,
    )
