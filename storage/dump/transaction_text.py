"""Records of __transaction_state as text (TransactionLog.formatRecordKeyAndValue)."""

from __future__ import annotations

import struct

from logquake.storage.dump.decoders import Decoded, UndecodableRecordError
from logquake.storage.dump.scala_order import in_scala_order, topic_partition_hash
from logquake.wire.errors import ProtocolError
from logquake.wire.messages.coordinator_records import TransactionLogKey, TransactionLogValue
from logquake.wire.records import Record
from logquake.wire.schema import decode
from logquake.wire.topic_partition import TopicPartition

_VERSION = struct.Struct(">h")
_STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
_EMPTY = 0


def decode_transaction_record(record: Record) -> Decoded:
    """Raises UndecodableRecordError."""
    version = _version(record.key, record.offset)
    if version not in TransactionLogKey.__schema__.versions:
        return Decoded(f"unknown::version={version}", None)
    try:
        key = decode(TransactionLogKey, version, record.key or b"", _VERSION.size)
        payload = "<DELETE>" if record.value is None else _value(record.value, record.offset)
    except ProtocolError as error:
        raise UndecodableRecordError(f"at offset {record.offset}: {error}") from error
    return Decoded(f"transaction_metadata::transactionalId={key.transactional_id}", payload)


def _version(content: bytes | None, offset: int) -> int:
    if content is None or len(content) < _VERSION.size:
        raise UndecodableRecordError(f"at offset {offset}: no record of a transaction")
    version: int = _VERSION.unpack_from(content)[0]
    return version


def _value(content: bytes, offset: int) -> str:
    version = _version(content, offset)
    value = decode(TransactionLogValue, version, content, _VERSION.size)
    if not 0 <= value.transaction_status < len(_STATES):
        raise UndecodableRecordError(
            f"at offset {offset}: unknown transaction state {value.transaction_status}"
        )
    members = in_scala_order(_members(value), topic_partition_hash)
    partitions = ",".join(map(str, members))
    return (
        f"producerId:{value.producer_id},producerEpoch:{value.producer_epoch},"
        f"state={_STATES[value.transaction_status]},partitions=[{partitions}],"
        f"txnLastUpdateTimestamp={value.transaction_last_update_timestamp_ms},"
        f"txnTimeoutMs={value.transaction_timeout_ms}"
    )


def _members(value: TransactionLogValue) -> list[TopicPartition]:
    if value.transaction_status == _EMPTY:
        return []
    return [
        TopicPartition(topic.topic, index)
        for topic in value.transaction_partitions or ()
        for index in topic.partition_ids
    ]
