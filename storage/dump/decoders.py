"""Keys and values as text."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from logquake.wire.java_text import AS_JAVA
from logquake.wire.records import Record


class UndecodableRecordError(Exception):
    """The record is none of those that the decoder is for."""


class Decoded(NamedTuple):
    """What is shown of a record; None: nothing."""

    key: str | None
    payload: str | None


BytesDecoder = Callable[[bytes], str]
# Raises UndecodableRecordError.
RecordDecoder = Callable[[Record], Decoded]


def text(content: bytes) -> str:
    """Bytes that are no UTF-8 become U+FFFD, as many of them as Java makes."""
    return content.decode("utf-8", AS_JAVA)


def integer(content: bytes) -> str:
    """The first four bytes."""
    return _number(">i", content)


def long(content: bytes) -> str:
    """The first eight bytes."""
    return _number(">q", content)


def hexadecimal(content: bytes) -> str:
    return content.hex()


# By what they are called on the command line. Kafka's tool takes the names of Java classes:
# StringDecoder, IntegerDecoder, LongDecoder, and a DefaultDecoder that shows nothing of use.
BYTES_DECODERS: dict[str, BytesDecoder] = {
    "string": text,
    "integer": integer,
    "long": long,
    "hex": hexadecimal,
}


def decode_with(key_decoder: BytesDecoder, value_decoder: BytesDecoder) -> RecordDecoder:
    def decode(record: Record) -> Decoded:
        return Decoded(
            None if record.key is None else key_decoder(record.key),
            None if record.value is None else value_decoder(record.value),
        )

    return decode


decode_as_text = decode_with(text, text)


def bytes_decoder(name: str | None) -> BytesDecoder:
    """By its name, text without one. Raises ValueError, in a line for the user."""
    found = BYTES_DECODERS.get(name or "string")
    if found is None:
        raise ValueError(f"no decoder {name!r}: choose {', '.join(BYTES_DECODERS)}")
    return found


def _number(layout: str, content: bytes) -> str:
    try:
        return str(struct.unpack_from(layout, content)[0])
    except struct.error as error:
        wanted = struct.calcsize(layout)
        raise UndecodableRecordError(
            f"{len(content)} bytes are too few for a number of {wanted}"
        ) from error
