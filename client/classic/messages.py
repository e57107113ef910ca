"""Messages of the older APIs: a key and a payload, in sets of magic 0 or 1.

Sources: kafka.message (ByteBufferMessageSet, MessageAndOffset, MessageAndMetadata) and
kafka.producer.KeyedMessage. Messages of magic 0 have no timestamp, and none have headers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from logquake.client.classic.serializer import Decoder
from logquake.wire.compression import Codec
from logquake.wire.records import (
    MAX_DECOMPRESSED_BYTES,
    BatchHeader,
    Record,
    check_crc,
    encode_message_set,
    iterate_batches,
    iterate_records,
)
from logquake.wire.sentinels import NO_TIMESTAMP

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class KeyedMessage(Generic[K, V]):
    """A message for a producer. ``part_key`` determines the partition instead of the key, and is
    not stored.
    """

    topic: str
    message: V
    key: K | None = None
    part_key: Any = None

    @property
    def partition_key(self) -> Any:
        return self.key if self.part_key is None else self.part_key


class Message(NamedTuple):
    """A message's bytes."""

    payload: bytes | None
    key: bytes | None = None
    timestamp_ms: int = NO_TIMESTAMP  # from 0.10 on


class MessageAndOffset(NamedTuple):
    message: Message
    offset: int

    @property
    def next_offset(self) -> int:
        return self.offset + 1


@dataclass(frozen=True, slots=True)
class MessageAndMetadata(Generic[K, V]):
    """An element of a stream; key and message are decoded on access."""

    topic: str
    partition: int
    offset: int
    raw: Message
    key_decoder: Decoder[K]
    value_decoder: Decoder[V]

    @property
    def timestamp_ms(self) -> int:
        """NO_TIMESTAMP if requested with versions before 0.10."""
        return self.raw.timestamp_ms

    @property
    def key(self) -> K | None:
        return None if self.raw.key is None else self.key_decoder.from_bytes(self.raw.key)

    @property
    def message(self) -> V | None:
        payload = self.raw.payload
        return None if payload is None else self.value_decoder.from_bytes(payload)


class MessageSet:
    """The messages that one fetch returned of one partition (ByteBufferMessageSet).

    ``size_in_bytes`` includes a truncated message at the end, ``valid_bytes`` does not. Iterating
    yields messages with their offsets, including those within compressed wrappers.
    """

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self.size_in_bytes = len(data)

    @property
    def valid_bytes(self) -> int:
        """Raises RecordError for an invalid message set."""
        return max((at + header.size for at, header in self._shallow()), default=0)

    @property
    def next_offset(self) -> int | None:
        """The offset after the last whole message; None without one. Raises RecordError."""
        return max((header.next_offset for _, header in self._shallow()), default=None)

    def __iter__(self) -> Iterator[MessageAndOffset]:
        """Raises RecordError for a corrupt message (ensureValid)."""
        for position, header in self._shallow():
            check_crc(self._data, position, header)
            for record in iterate_records(self._data, position, header, MAX_DECOMPRESSED_BYTES):
                yield _message(record)

    def _shallow(self) -> Iterator[tuple[int, BatchHeader]]:
        return iterate_batches(self._data)


def _message(record: Record) -> MessageAndOffset:
    return MessageAndOffset(Message(record.value, record.key, record.timestamp_ms), record.offset)


def encode_messages(messages: Sequence[Message], codec: Codec, magic: int = 0) -> bytes:
    """A message set with offsets from 0, which the leader replaces."""
    records = (
        Record(offset, message.timestamp_ms, message.key, message.payload)
        for offset, message in enumerate(messages)
    )
    return encode_message_set(records, magic, codec=codec)
