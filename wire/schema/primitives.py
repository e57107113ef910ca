"""What the compiled decoders and encoders call off their straight line.

Positions are offsets into the buffer, ``end`` is its length. A varint is capped at five bytes,
as Kafka's ByteUtils caps it.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from struct import Struct as Packer

from logquake.wire.errors import ProtocolError
from logquake.wire.java_text import replace_as_java
from logquake.wire.schema.fields import Records

MAX_STRING_BYTES = 0x7FFF
JOIN_RECORDS_BELOW = 1024  # copying so few bytes costs less than one more part to send
MAX_KEPT_PACKER = 64  # elements; a peer chooses the count, and must not fill memory with packers

Part = Records

#: Text that is not UTF-8 reads as in Java, with replacement characters, where there is room for
#: them: one broken byte becomes three, and an answer must still be able to carry the text.
LENIENT = "logquake-text"
_LONGEST_REPLACED = MAX_STRING_BYTES // 3


def _replace(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError) and len(error.object) <= _LONGEST_REPLACED:
        return replace_as_java(error)
    raise error


codecs.register_error(LENIENT, _replace)


class ArrayPackers(dict[int, Packer]):
    """By count, what packs that many scalars of one type; made when first asked for."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = code

    def __missing__(self, count: int) -> Packer:
        packer = Packer(f">{count}{self._code}")
        if count <= MAX_KEPT_PACKER:
            self[count] = packer
        return packer


def read_uvarint(buffer: Sequence[int], position: int) -> tuple[int, int]:
    """An unsigned varint and the position after it.

    From 2^31 on it reads negative, as Java's int: a length as null, a count of tags as none.
    """
    value = shift = 0
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value if shift < 28 else _as_int32(value)), position
        shift += 7
        if shift > 28:
            raise ProtocolError("a varint of more than five bytes")


def _as_int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def write_uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def skip_tagged_fields(buffer: Sequence[int], position: int, end: int) -> int:
    """The position after a section of tagged fields none of which is known."""
    count, position = read_uvarint(buffer, position)
    for _ in range(count):
        _, position = read_uvarint(buffer, position)
        size, position = read_uvarint(buffer, position)
        if not 0 <= size <= end - position:
            raise ProtocolError(f"a tagged field of {size} bytes, {end - position} are left")
        position += size
    return position


def refusal(claimed: int, left: int) -> ProtocolError:
    """Why a length or a count was refused; a negative claim is a forbidden null."""
    return ProtocolError(f"length or count {claimed} with {left} bytes left")


def foreign_tag(tag: int) -> ProtocolError:
    """Why a tagged field was refused that other versions of the message have."""
    return ProtocolError(f"tag {tag} is of another version")


def string_prefix(length_plus_one: int) -> bytes:
    """The compact length of a string, refused where Kafka refuses to write it."""
    if length_plus_one > MAX_STRING_BYTES + 1:
        raise ValueError(f"a string of {length_plus_one - 1} bytes, more than {MAX_STRING_BYTES}")
    return write_uvarint(length_plus_one)


def require_items(items: object) -> None:
    """Refuses what is no list: a string, for one, would be written as its letters."""
    if not isinstance(items, list | tuple):
        raise TypeError("not a list")


def exactly_16(value: bytes) -> bytes:
    """A UUID; ``struct`` would fill up or cut off any other length in silence."""
    if len(value) != 16:
        raise ValueError("not 16 bytes")
    return value


def put_records(
    data: Records, out: list[bytes | bytearray | memoryview], parts: list[Part]
) -> None:
    """Appends record bytes: joined when few, else as a part of their own, not copied."""
    if isinstance(data, bytes | bytearray | memoryview) and len(data) < JOIN_RECORDS_BELOW:
        out.append(data)
        return
    if isinstance(data, str):  # it has a length too, but of characters
        raise TypeError("records are bytes")
    parts.append(b"".join(out))
    out.clear()
    parts.append(data)
