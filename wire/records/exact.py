"""Records to the letter of Kafka's DefaultRecord.readFrom, slowly.

For what the compiled reader refuses and Kafka takes: header keys that are not UTF-8, attributes
past 127, numbers with bits that Java cuts off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from logquake.wire.java_text import AS_JAVA
from logquake.wire.records.header import BatchHeader
from logquake.wire.records.refusals import invalid

_INT_BYTES = 5
_LONG_BYTES = 10


class ExactRecord(NamedTuple):
    """The same names as the compiled reader's."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


def read_exactly(payload: bytes, header: BatchHeader) -> Iterator[ExactRecord]:
    """The records of a batch of magic 2 out of its decompressed payload, in order.

    Raises RecordError INVALID_RECORD where the bytes are not exactly header.record_count records.
    """
    reader = _Reader(payload)
    try:
        for _ in range(header.record_count):
            yield _record(reader, header)
    except IndexError as error:
        raise invalid("unreadable records: the bytes end within one") from error
    if reader.position != len(payload):
        raise invalid(f"unreadable records: {len(payload) - reader.position} bytes after the last")


def _record(reader: _Reader, header: BatchHeader) -> ExactRecord:
    size = reader.number()
    start = reader.position
    if not 0 <= size <= reader.left:
        raise invalid(f"unreadable records: one of {size} bytes where {reader.left} are left")
    reader.byte()  # attributes, of which none is in use
    timestamp = header.base_timestamp + reader.long_number()
    if header.is_log_append_time:
        timestamp = header.max_timestamp
    offset = header.base_offset + reader.number()
    key, value = reader.bytes_or_null(), reader.bytes_or_null()
    count = reader.number()
    if not 0 <= count <= reader.left:
        raise invalid(f"unreadable records: {count} record headers")
    headers = [_header(reader) for _ in range(count)]
    if reader.position - start != size:
        raise invalid(f"unreadable records: one of {size} bytes has {reader.position - start}")
    return ExactRecord(_signed(offset, 64), _signed(timestamp, 64), key, value, headers)


def _header(reader: _Reader) -> tuple[str, bytes | None]:
    key = reader.bytes_or_null()
    if key is None:
        raise invalid("unreadable records: a record header without a key")
    return key.decode("utf-8", AS_JAVA), reader.bytes_or_null()


class _Reader:
    """Numbers and bytes, one after the other; IndexError at the end."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self.position = 0

    @property
    def left(self) -> int:
        return len(self._payload) - self.position

    def byte(self) -> int:
        byte = self._payload[self.position]
        self.position += 1
        return byte

    def number(self) -> int:
        return self._zigzag(_INT_BYTES, 32)

    def long_number(self) -> int:
        return self._zigzag(_LONG_BYTES, 64)

    def bytes_or_null(self) -> bytes | None:
        size = self.number()
        if size < 0:
            return None
        if size > self.left:
            raise invalid(f"unreadable records: {size} bytes where {self.left} are left")
        self.position += size
        return self._payload[self.position - size : self.position]

    def _zigzag(self, most_bytes: int, bits: int) -> int:
        raw = 0
        for place in range(most_bytes):
            byte = self.byte()
            raw |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                raw &= (1 << bits) - 1  # as Java's int or long cuts it off
                return (raw >> 1) ^ -(raw & 1)
        raise invalid(f"unreadable records: a number of more than {most_bytes} bytes")


def _signed(number: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half
