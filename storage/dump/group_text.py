"""Records of __consumer_offsets as text (OffsetsMessageParser, CoordinatorRecordSerde)."""

from __future__ import annotations

import struct
from base64 import b64decode
from typing import Any

from logquake.storage.dump.decoders import Decoded, UndecodableRecordError
from logquake.storage.dump.message_json import json_text, message_document
from logquake.wire.errors import ProtocolError
from logquake.wire.messages.consumer_group_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from logquake.wire.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from logquake.wire.messages.coordinator_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from logquake.wire.records import Record
from logquake.wire.schema import Message, decode

CONSUMER_PROTOCOL = "consumer"
_VERSION = struct.Struct(">h")
# Keys and values by the key's version, which tells what kind of record it is.
GROUP_RECORDS: dict[int, tuple[type[Message], type[Message]]] = {
    0: (OffsetCommitKey, OffsetCommitValue),
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupMetadataKey, GroupMetadataValue),
    3: (ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    4: (ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    5: (ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    6: (ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue),
    7: (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    8: (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
}


class _RefusedError(Exception):
    """The message ends the line that Kafka shows instead of the record."""


def decode_group_record(record: Record) -> Decoded:
    """Raises UndecodableRecordError for a record without a key."""
    if record.key is None:
        raise UndecodableRecordError(
            f"Failed to decode message at offset {record.offset} using offset topic decoder "
            "(message had a missing key)"
        )
    try:
        return _decode(record, record.key)
    except _RefusedError as error:
        return Decoded(f"Error at offset {record.offset}, skipping. {error}", None)


def _decode(record: Record, key: bytes) -> Decoded:
    kind = _version(key, "key")
    if kind not in GROUP_RECORDS:
        return Decoded(f"Unknown record type {kind} at offset {record.offset}, skipping.", None)
    key_class, value_class = GROUP_RECORDS[kind]
    key_document = message_document(_message(key_class, key, "key"), kind)
    key_text = json_text({"type": str(kind), "data": key_document})
    if record.value is None:
        return Decoded(key_text, "<DELETE>")
    value = _message(value_class, record.value, "value")
    version = _version(record.value, "value")
    document = message_document(value, version)
    if isinstance(value, GroupMetadataValue) and value.protocol_type == CONSUMER_PROTOCOL:
        _open_members(document)
    return Decoded(key_text, json_text({"version": str(version), "data": document}))


def _version(content: bytes, name: str) -> int:
    if len(content) < _VERSION.size:
        raise _RefusedError(f"Could not read version from {name}'s buffer.")
    version: int = _VERSION.unpack_from(content)[0]
    return version


def _message(cls: type[Message], content: bytes, name: str) -> Message:
    version = _version(content, name)
    try:
        return decode(cls, version, content, _VERSION.size)
    except ProtocolError as error:
        why = str(error)
        if version not in cls.__schema__.versions:
            why = f"Can't read version {version} of {cls.__name__}"
        raise _RefusedError(
            f"Could not read record with version {version} from {name}'s buffer due to: {why}."
        ) from error


def _open_members(document: dict[str, Any]) -> None:
    """What consumers told each other, instead of its base64."""
    for member in document["members"]:
        _open(member, "subscription", ConsumerProtocolSubscription)
        _open(member, "assignment", ConsumerProtocolAssignment)


def _open(member: dict[str, Any], field: str, cls: type[Message]) -> None:
    """Left as it is when it is something else."""
    content = b64decode(member[field])
    if len(content) < _VERSION.size:
        return
    version: int = _VERSION.unpack_from(content)[0]
    try:
        member[field] = message_document(decode(cls, version, content, _VERSION.size), version)
    except ProtocolError:
        return
