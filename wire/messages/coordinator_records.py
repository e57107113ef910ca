"""Records of __consumer_offsets and __transaction_state.

Key and value each begin with a two-byte version, which is not part of these messages
(``wire/versioned.py``). The versions that Kafka 3.9 writes are not the newest it reads: flexible
ones wait until every broker that may be rolled back to reads them (KIP-915).
"""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    binary,
    int8,
    int16,
    int32,
    int64,
    string,
)


class OffsetCommitKey(Message, versions="0-1"):
    """Key of a committed offset in __consumer_offsets.

    0 and 1 are alike; the version written is 1.
    """

    group: str = string("0-1")
    topic: str = string("0-1")
    partition: int = int32("0-1")


class OffsetCommitValue(Message, versions="0-4", flexible="4+"):
    """A committed offset.

    1: expire_timestamp. 2: none. 3: leader_epoch (KIP-320), and again no expiry. 4: flexible
    (KIP-915). The version written is 3, and 1 for a commit with an expiry of its own.
    """

    offset: int = int64()
    leader_epoch: int = int32("3+", default=-1, ignorable=True)
    metadata: str = string()
    commit_timestamp: int = int64()
    expire_timestamp: int = int64("1", default=-1, ignorable=True)


class GroupMetadataKey(Message, versions="2"):
    """Key of a classic group's state in __consumer_offsets; version 2 tells it from offsets."""

    group: str = string("2")


class MemberMetadata(Struct):
    member_id: str = string()
    group_instance_id: str | None = string("3+", nullable="3+", default=None, ignorable=True)
    client_id: str = string()
    client_host: str = string()
    rebalance_timeout: int = int32("1+", default=-1, ignorable=True)
    session_timeout: int = int32()
    subscription: bytes = binary()
    assignment: bytes = binary()


class GroupMetadataValue(Message, versions="0-4", flexible="4+"):
    """A classic group: generation, protocol, leader and members.

    1: rebalance_timeout, for which the session timeout stands in 0. 2: current_state_timestamp.
    3: group_instance_id (KIP-345). 4: flexible (KIP-915). The version written is 3.
    """

    protocol_type: str = string()
    generation: int = int32()
    protocol: str | None = string(nullable="0+")
    leader: str | None = string(nullable="0+")
    current_state_timestamp: int = int64("2+", default=-1, ignorable=True)
    members: list[MemberMetadata] = array(MemberMetadata)


class TransactionLogKey(Message, versions="0"):
    """Key of a transactional id in __transaction_state."""

    transactional_id: str = string("0")


class PartitionsSchema(Struct):
    topic: str = string()
    partition_ids: list[int] = array(int32)


class TransactionLogValue(Message, versions="0-1", flexible="1+"):
    """A transaction's producer, state, partitions and times.

    1: flexible (KIP-915). The version written is 0; a transaction without partitions has null.
    """

    producer_id: int = int64()
    producer_epoch: int = int16()
    transaction_timeout_ms: int = int32()
    transaction_status: int = int8()
    transaction_partitions: list[PartitionsSchema] | None = array(PartitionsSchema, nullable="0+")
    transaction_last_update_timestamp_ms: int = int64()
    transaction_start_timestamp_ms: int = int64()
