"""Reads and writes messages, compiling the code for a version when it is first needed."""

from __future__ import annotations

import struct
from typing import TypeVar

from logquake.wire.errors import ProtocolError
from logquake.wire.schema.decoder import Decoder, compile_decoder, decoder_title
from logquake.wire.schema.encoder import Encoder, compile_encoder
from logquake.wire.schema.faults import Fault, first_fault
from logquake.wire.schema.message import Message
from logquake.wire.schema.primitives import Part
from logquake.wire.schema.source import field_of

M = TypeVar("M", bound=Message)

Buffer = bytes | bytearray | memoryview

#: Memory that the objects of one decoded message may take, about: a frame of 100 MB, the default
#: of socket.request.max.bytes, could otherwise name tens of millions of empty elements.
MAX_DECODED_BYTES = 256 << 20

# What a compiled encoder raises for values that its version cannot carry.
_REFUSALS = (struct.error, AttributeError, KeyError, TypeError, ValueError)


class NotInVersionError(ValueError):
    """What is to be said has no place in that version of the message, and may have in another."""


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
    that are not such a message, naming the field where that shows, and for a version that the
    message does not have.
    """
    decoder = cls.__schema__.decoders.get(version) or _make_decoder(cls, version)
    try:
        message: M = decoder(buffer, start, max_decoded_bytes)[0]
    except (IndexError, struct.error, UnicodeDecodeError, ProtocolError) as error:
        raise _unreadable(cls, version, error) from error
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
    what the version cannot carry, naming the field: a number out of range, a null where none may
    be, a string of more than 32767 bytes, a value of another type, a field it does not have that
    is neither ignorable nor default; of what another version might carry, NotInVersionError.
    """
    encoder = message.__schema__.encoders.get(version) or _make_encoder(type(message), version)
    out: list[bytes] = [prefix]
    parts: list[Part] = []
    try:
        encoder(message, out, parts)
        if out:
            parts.append(b"".join(out))
    except _REFUSALS as error:
        fault = first_fault(message, version) or Fault(f"{error}")
        kind = NotInVersionError if fault.is_versions else ValueError
        raise kind(f"{type(message).__name__} v{version}: {fault.says}") from error
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


def _unreadable(cls: type[Message], version: int, error: Exception) -> ProtocolError:
    field = field_of(error, decoder_title(cls, version))
    cut_short = isinstance(error, IndexError | struct.error)
    reason = "the bytes end before it does" if cut_short else str(error)
    return ProtocolError(": ".join(filter(None, (f"{cls.__name__} v{version}", field, reason))))
