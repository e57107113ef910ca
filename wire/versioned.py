"""Messages that carry their version in front: two bytes, then the message.

So are the keys and values of the coordinators' topics kept (Kafka's
MessageUtil.toVersionPrefixedBytes), and so do consumers write what they tell each other inside
JoinGroup and SyncGroup. In the coordinators' topics the version of a key also says what kind of
record it is; a kind that a later Kafka added is left alone, as Kafka does (KIP-915).
"""

from __future__ import annotations

from struct import Struct as Packer
from typing import TypeVar

from logquake.wire.errors import ProtocolError
from logquake.wire.messages.coordinator_records import (
    GroupMetadataKey,
    OffsetCommitKey,
    TransactionLogKey,
)
from logquake.wire.schema import Message, decode, encode

M = TypeVar("M", bound=Message)

Buffer = bytes | bytearray | memoryview

_VERSION = Packer(">h")


def encode_versioned(message: Message, version: int) -> bytes:
    """The version and the message; ValueError for what the version cannot carry."""
    return _VERSION.pack(version) + encode(message, version)


def decode_versioned(cls: type[M], data: Buffer, *, newer_is_newest: bool = False) -> M:
    """The message in the version that it says it has; ProtocolError.

    With ``newer_is_newest`` a version that is not known yet is read as the newest that is: of the
    consumer protocol, later versions may only append fields (Kafka's ConsumerProtocol).
    """
    version = version_of(data)
    if newer_is_newest:
        version = min(version, cls.__schema__.versions.last)
    return decode(cls, version, data, _VERSION.size)


def version_of(data: Buffer) -> int:
    """The version in front; ProtocolError when there is none."""
    if len(data) < _VERSION.size:
        raise ProtocolError(f"a version has two bytes, here are {len(data)}")
    return int(_VERSION.unpack_from(data)[0])


def decode_offsets_key(data: Buffer) -> OffsetCommitKey | GroupMetadataKey | None:
    """A key of __consumer_offsets; None for a kind that is not known. ProtocolError."""
    version = version_of(data)
    if version in OffsetCommitKey.__schema__.versions:
        return decode_versioned(OffsetCommitKey, data)
    if version in GroupMetadataKey.__schema__.versions:
        return decode_versioned(GroupMetadataKey, data)
    return None


def decode_transaction_key(data: Buffer) -> TransactionLogKey | None:
    """A key of __transaction_state; None for a kind that is not known. ProtocolError."""
    if version_of(data) not in TransactionLogKey.__schema__.versions:
        return None
    return decode_versioned(TransactionLogKey, data)
