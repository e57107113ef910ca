"""Zstandard within a bound.

The library's one-shot call trusts the size in the frame's header over the bound it was given, and
its stream reader ends without a word at the end of an incomplete frame. So the stream is read in
pieces, and the frames' block headers are walked first (RFC 8878, 3.1.1).
"""

from __future__ import annotations

import struct

import zstandard

from logquake.wire.compression.bounds import Buffer, broken, too_large

# zstd's own default for readers, Java's included: what asks for more, nobody could read.
MAX_WINDOW_BYTES = 1 << 27
_CHUNK_BYTES = 128 * 1024
_SKIPPABLE_MAGIC = range(0x184D2A50, 0x184D2A60)
_SKIPPABLE_HEADER = struct.Struct("<II")
_BLOCK_HEADER = struct.Struct("<HB")  # last, type in two bits, size
_CHECKSUM_BYTES = 4
_RLE_BLOCK = 1
_DEFAULT_LEVEL = 3


def compress(data: Buffer, level: int | None = None) -> bytes:
    # A context per call: zstandard's contexts must not be shared by threads.
    used = _DEFAULT_LEVEL if level is None else level
    return zstandard.ZstdCompressor(level=used).compress(data)


def decompress(data: Buffer, limit: int) -> bytes:
    try:
        _check_complete(memoryview(data))
        return _read_bounded(data, limit)
    except zstandard.ZstdError as error:
        raise broken("zstd", error) from error


def _read_bounded(data: Buffer, limit: int) -> bytes:
    plain = bytearray()
    context = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
    with context.stream_reader(data, read_across_frames=True) as reader:
        while chunk := reader.read(_CHUNK_BYTES):
            plain += chunk
            if len(plain) > limit:
                raise too_large("zstd", limit)
    return bytes(plain)


def _check_complete(view: memoryview) -> None:
    """Raises RecordError unless the bytes are whole frames, at least one, and nothing else."""
    if not view:
        raise broken("zstd", "no frame")
    position = 0
    while position < len(view):
        position = _end_of_frame(view, position)
    if position != len(view):
        raise broken("zstd", "incomplete frame")


def _end_of_frame(view: memoryview, start: int) -> int:
    if len(view) - start >= _SKIPPABLE_HEADER.size:
        magic, size = _SKIPPABLE_HEADER.unpack_from(view, start)
        if magic in _SKIPPABLE_MAGIC:
            return start + _SKIPPABLE_HEADER.size + int(size)
    frame = view[start:]
    has_checksum = zstandard.get_frame_parameters(frame).has_checksum
    end = _end_of_blocks(view, start + zstandard.frame_header_size(frame))
    return end + (_CHECKSUM_BYTES if has_checksum else 0)


def _end_of_blocks(view: memoryview, position: int) -> int:
    """Half a million of them may be in a batch: empty ones are three bytes."""
    last_header = len(view) - _BLOCK_HEADER.size
    while position <= last_header:
        low, high = _BLOCK_HEADER.unpack_from(view, position)
        stored_bytes = 1 if low >> 1 & 3 == _RLE_BLOCK else low >> 3 | high << 13
        position += _BLOCK_HEADER.size + stored_bytes
        if low & 1:
            return position
    raise broken("zstd", "incomplete frame")
