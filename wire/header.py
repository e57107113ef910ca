"""Frames, request and response headers in all their generations, and whole framed messages.

A stream of bytes is a row of frames: a four-byte length, then so many bytes.

The generation follows from the key and version of the message: a request has header 2 from its
first flexible version on, header 1 before, and ControlledShutdown 0 has header 0, without a
client id. A response has header 1 when flexible, else 0; an ApiVersions response always has
header 0, because its reader does not know yet what the broker speaks (KIP-511). The client id
of header 2 kept its old two-byte length.
"""

from __future__ import annotations

import struct
from functools import cache
from struct import Struct as Packer
from typing import NamedTuple, TypeVar

from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ProtocolError
from logquake.wire.schema import Message, Part, decode, encode_parts
from logquake.wire.schema.primitives import LENIENT, skip_tagged_fields

M = TypeVar("M", bound=Message)

LENGTH_BYTES = 4
_FIXED = Packer(">hhi")
_CLIENT_ID_LENGTH = Packer(">h")
_LENGTH = Packer(">i")
_LENGTH_AND_CORRELATION = Packer(">ii")
_CORRELATION = Packer(">i")


class RequestHeader(NamedTuple):
    """What stands before every request's body."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None = None


def frame_size(buffer: memoryview, max_frame_bytes: int, position: int = 0) -> int | None:
    """Size of the frame at ``position``, its length included; None until its length is there.

    Lets a reader make room for a frame of which only the beginning has come. ProtocolError for a
    length that is negative or above ``max_frame_bytes`` (Kafka's socket.request.max.bytes).
    """
    if len(buffer) - position < LENGTH_BYTES:
        return None
    (length,) = _LENGTH.unpack_from(buffer, position)
    if not 0 <= length <= max_frame_bytes:
        raise ProtocolError(f"a frame of {length} bytes, not 0 to {max_frame_bytes}")
    return LENGTH_BYTES + int(length)


class UnsupportedVersion(ProtocolError):  # noqa: N818  # Kafka's word for it
    """A request whose key or version the protocol does not have.

    The connection is closed, except that an ApiVersions request of a version from the future
    is answered in version 0 with UNSUPPORTED_VERSION, for which ``header`` is needed.
    """

    def __init__(self, header: RequestHeader) -> None:
        super().__init__(f"no API with key {header.api_key} and version {header.api_version}")
        self.header = header


@cache
def request_header_version(request: type[Message], version: int) -> int:
    """Of a version that the request has."""
    schema = request.__schema__
    if schema.key == ApiKey.CONTROLLED_SHUTDOWN and version == 0:
        return 0
    return 2 if version in schema.flexible else 1


@cache
def response_header_version(response: type[Message], version: int) -> int:
    """Of a version that the response has."""
    schema = response.__schema__
    return 1 if version in schema.flexible and schema.key != ApiKey.API_VERSIONS else 0


def decode_request_header(
    buffer: bytes | bytearray | memoryview, start: int = 0
) -> tuple[RequestHeader, int]:
    """The header at ``start`` of a frame without its length, and where the body starts.

    ProtocolError for bytes that are no header; UnsupportedVersion for a key or version that
    the protocol does not have.
    """
    try:
        key, version, correlation_id = _FIXED.unpack_from(buffer, start)
        request = request_type(key)
        if request is None or version not in request.__schema__.versions:
            raise UnsupportedVersion(_foreign_header(buffer, start))
        generation = request_header_version(request, version)
        position = start + _FIXED.size
        if generation == 0:
            return RequestHeader(key, version, correlation_id), position
        client_id, position = _read_client_id(buffer, position)
        if generation == 2:
            position = skip_tagged_fields(buffer, position, len(buffer))
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ProtocolError(f"request header: {error}") from error
    return RequestHeader(key, version, correlation_id, client_id), position


def encode_request(header: RequestHeader, message: Message) -> list[Part]:
    """The request with its length and header in front."""
    fixed = _FIXED.pack(header.api_key, header.api_version, header.correlation_id)
    generation = request_header_version(type(message), header.api_version)
    if generation > 0:
        fixed += _write_client_id(header.client_id)
    if generation == 2:
        fixed += b"\0"
    parts = encode_parts(message, header.api_version)
    size = len(fixed) + sum(map(len, parts))
    return _put_in_front(_LENGTH.pack(size) + fixed, parts)


def encode_response(correlation_id: int, message: Message, version: int) -> list[Part]:
    """The response with its length and header in front."""
    tags = b"\0" * response_header_version(type(message), version)
    parts = encode_parts(message, version)
    size = _CORRELATION.size + len(tags) + sum(map(len, parts))
    return _put_in_front(_LENGTH_AND_CORRELATION.pack(size, correlation_id) + tags, parts)


def decode_response(
    response: type[M], version: int, frame: bytes | bytearray | memoryview
) -> tuple[int, M]:
    """The correlation id and body of a response frame without its length; ProtocolError."""
    try:
        (correlation_id,) = _CORRELATION.unpack_from(frame)
        position = _CORRELATION.size
        if response_header_version(response, version) == 1:
            position = skip_tagged_fields(frame, position, len(frame))
    except (IndexError, struct.error) as error:
        raise ProtocolError(f"response header: {error}") from error
    return correlation_id, decode(response, version, frame, position)


def _put_in_front(prefix: bytes, parts: list[Part]) -> list[Part]:
    """Joins the prefix to the first part, which is small: no message begins with records."""
    first = parts[0] if parts else b""
    if isinstance(first, bytes):
        parts[:1] = [prefix + first]
    else:
        parts.insert(0, prefix)
    return parts


def _foreign_header(buffer: bytes | bytearray | memoryview, start: int) -> RequestHeader:
    """As much as can be told: the client id stands in the same place in headers 1 and 2."""
    key, version, correlation_id = _FIXED.unpack_from(buffer, start)
    try:
        client_id, _ = _read_client_id(buffer, start + _FIXED.size)
    except (ProtocolError, struct.error, UnicodeDecodeError):
        client_id = None
    return RequestHeader(key, version, correlation_id, client_id)


def _read_client_id(
    buffer: bytes | bytearray | memoryview, position: int
) -> tuple[str | None, int]:
    (length,) = _CLIENT_ID_LENGTH.unpack_from(buffer, position)
    position += _CLIENT_ID_LENGTH.size
    if length < 0:
        return None, position
    stop = position + length
    if stop > len(buffer):
        raise ProtocolError(f"client id of {length} bytes in a header that ends before")
    return str(buffer[position:stop], "utf-8", LENIENT), stop


def _write_client_id(client_id: str | None) -> bytes:
    if client_id is None:
        return _CLIENT_ID_LENGTH.pack(-1)
    text = client_id.encode()
    return _CLIENT_ID_LENGTH.pack(len(text)) + text
