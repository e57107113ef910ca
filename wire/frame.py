"""A stream of bytes is a row of frames: a four-byte length, then so many bytes."""

from __future__ import annotations

from struct import Struct as Packer

from logquake.wire.errors import ProtocolError

LENGTH_BYTES = 4
_LENGTH = Packer(">i")


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
