"""Records of __transaction_state (Kafka's TransactionLog): version 0 of key and value, a tombstone
for an id that is forgotten.

What a transaction without partitions has in their place depends on its state: null when it is
Empty, else an empty list. Partitions are written in their order, where Kafka's is that of hash
tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from logquake.node.coordinators.transactions.metadata import Producer, TransactionMetadata
from logquake.node.coordinators.transactions.states import (
    STATES,
    Complete,
    Empty,
    Ongoing,
    Prepared,
    TransactionState,
    by_topic,
    state_number,
)
from logquake.wire.errors import ProtocolError
from logquake.wire.messages.coordinator_records import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.sentinels import NO_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.versioned import decode_transaction_key, decode_versioned, encode_versioned

_KEY_VERSION = 0
_VALUE_VERSION = 0  # 1 is flexible, and transaction.version 1's, a feature that ZooKeeper lacks

#: What a record takes beside its key, at the most: lengths, attributes, times, in a batch of many.
_TOMBSTONE_OVERHEAD_BYTES = 36


def encode_metadata(transactional_id: str, metadata: TransactionMetadata, now_ms: int) -> bytearray:
    """A batch of one record."""
    return _batch([(_key(transactional_id), _value(metadata))], now_ms)


def encode_tombstones(transactional_ids: Sequence[str], now_ms: int) -> bytearray:
    return _batch([(_key(each), None) for each in transactional_ids], now_ms)


def tombstone_bytes(transactional_id: str) -> int:
    """The most that an id's tombstone takes in a batch."""
    return len(_key(transactional_id)) + _TOMBSTONE_OVERHEAD_BYTES


def read_key(key: bytes) -> str | None:
    """The transactional id; None for a kind of record that is not known. Raises ProtocolError."""
    found = decode_transaction_key(key)
    return None if found is None else found.transactional_id


def read_value(value: bytes) -> TransactionMetadata:
    """Raises ProtocolError."""
    found = decode_versioned(TransactionLogValue, value)
    return TransactionMetadata(
        producer=Producer(found.producer_id, found.producer_epoch),
        timeout_ms=found.transaction_timeout_ms,
        state=_state(found),
        updated_ms=found.transaction_last_update_timestamp_ms,
    )


def _batch(records: Sequence[tuple[bytes, bytes | None]], now_ms: int) -> bytearray:
    return encode_batch(
        [Record(place, now_ms, key, value) for place, (key, value) in enumerate(records)]
    )


def _key(transactional_id: str) -> bytes:
    return encode_versioned(TransactionLogKey(transactional_id=transactional_id), _KEY_VERSION)


def _value(metadata: TransactionMetadata) -> bytes:
    state = metadata.state
    value = TransactionLogValue(
        producer_id=metadata.producer.id,
        producer_epoch=metadata.producer.epoch,
        transaction_timeout_ms=metadata.timeout_ms,
        transaction_status=state_number(state),
        transaction_partitions=_partitions(state),
        transaction_last_update_timestamp_ms=metadata.updated_ms,
        transaction_start_timestamp_ms=NO_TIMESTAMP
        if isinstance(state, Empty)
        else state.started_ms,
    )
    return encode_versioned(value, _VALUE_VERSION)


def _partitions(state: TransactionState) -> list[PartitionsSchema] | None:
    if isinstance(state, Empty):
        return None
    return [
        PartitionsSchema(topic=name, partition_ids=indexes)
        for name, indexes in by_topic(state.partitions).items()
    ]


def _state(value: TransactionLogValue) -> TransactionState:
    number = value.transaction_status
    if not 0 <= number < len(STATES):
        raise ProtocolError(f"a transaction in state {number}, which is none")
    state, started_ms = STATES[number], value.transaction_start_timestamp_ms
    if issubclass(state, Ongoing | Prepared):
        partitions = frozenset(
            TopicPartition(each.topic, index)
            for each in value.transaction_partitions or ()
            for index in each.partition_ids
        )
        return state(partitions, started_ms)
    return state(started_ms) if issubclass(state, Complete) else state()
