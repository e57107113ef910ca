"""Reads and writes messages, compiling the code for a version when it is first needed."""

from __future__ import annotations

import struct
from typing import TypeVar

from logquake.wire.errors import ProtocolError
from logquake.wire.schema.decoder import Decoder, compile_decoder
from logquake.wire.schema.encoder import Encoder, compile_encoder
from logquake.wire.schema.message import Message
from logquake.wire.schema.primitives import Part

M = TypeVar("M", bound=Message)

Buffer = bytes | bytearray | memoryview

#: Memory that the objects of one decoded message may take, about: a frame of 100 MB, the default
#: of socket.request.max.bytes, could otherwise name tens of millions of empty elements.
MAX_DECODED_BYTES = 256 << 20


def decode(
    cls: type[M],
    version: int,
    buffer: Buffer,
    start: int = 0,
    *,
    max_decoded_bytes: int = MAX_DECODED_BYTES,
) -> M:
    """The message at ``start``; bytes after it are ignored.

    Record fields are slices of ``buffer``, everything else is copied. ProtocolError for bytes
    that are not such a message, and for a version that the message does not have.
    """
    decoder = cls.__schema__.decoders.get(version) or _make_decoder(cls, version)
    try:
        message: M = decoder(buffer, start, max_decoded_bytes)[0]
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ProtocolError(f"{cls.__name__} v{version}: {error}") from error
    return message


def encode(message: Message, version: int) -> bytes:
    """The message as one piece; records that are not bytes in memory are a ValueError."""
    parts = encode_parts(message, version)
    try:
        return b"".join(parts)  # type: ignore[arg-type]  # a foreign part is the TypeError below
    except TypeError as error:
        raise ValueError(f"{type(message).__name__} holds records not in memory") from error


def encode_parts(message: Message, version: int, prefix: bytes = b"") -> list[Part]:
    """The message in pieces, records of any length passed through uncopied.

    Pieces between records are joined, and ``prefix`` is joined to the first. ValueError for
    what the version cannot carry: a number out of range, a null where none may be, a field it
    does not have that is neither ignorable nor default.
    """
    encoder = message.__schema__.encoders.get(version) or _make_encoder(type(message), version)
    out: list[bytes] = [prefix]
    parts: list[Part] = []
    try:
        encoder(message, out, parts)
    except (struct.error, AttributeError, TypeError) as error:
        raise ValueError(f"{type(message).__name__} v{version}: {error}") from error
    if out:
        parts.append(b"".join(out))
    return parts


def _make_decoder(cls: type[Message], version: int) -> Decoder:
    schema = cls.__schema__
    if version not in schema.versions:
        raise ProtocolError(f"{schema.name} has no version {version}")
    decoder = schema.decoders[version] = compile_decoder(cls, version)
    return decoder


def _make_encoder(cls: type[Message], version: int) -> Encoder:
    schema = cls.__schema__
    if version not in schema.versions:
        raise ValueError(f"{schema.name} has no version {version}")
    encoder = schema.encoders[version] = compile_encoder(cls, version)
    return encoder
