"""LZ4 frames as Kafka writes them: independent blocks of 64 KiB, no sizes, no content checksum."""

from __future__ import annotations

import lz4.frame

from logquake.wire.compression.bounds import Buffer, broken, too_large

DEFAULT_LEVEL = 9
_FAST = 0
_LEAST_HIGH_LEVEL = 3  # below it the library would take its fast compressor
_MOST_PER_BYTE = 255  # a byte of a match's length stands for so many bytes at most


def compress_lz4(data: Buffer, level: int | None = None) -> bytes:
    """One frame. Kafka's default level, 9, stands for the fast compressor; all others for the high.

    Caveat: the high compressor's levels 1 and 2 of Kafka's library are its level 3 here.
    """
    used = _FAST if level in (None, DEFAULT_LEVEL) else max(level or 0, _LEAST_HIGH_LEVEL)
    # Kafka's reader refuses frames whose blocks depend on each other.
    frame: bytes = lz4.frame.compress(
        data,
        compression_level=used,
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        store_size=False,
    )
    return frame


def decompress_lz4(data: Buffer, limit: int) -> bytes:
    """The first frame; what follows it Kafka's reader does not look at."""
    frame = lz4.frame.LZ4FrameDecompressor()
    # The library allocates what it is allowed at once: for a small frame the limit would cost more
    # than the decompression.
    allowed = min(limit, len(data) * _MOST_PER_BYTE) + 1
    try:
        plain: bytes = frame.decompress(data, allowed)
    except RuntimeError as error:
        raise broken("lz4", error) from error
    if len(plain) > limit:
        raise too_large("lz4", limit)
    if not frame.eof:
        raise broken("lz4", "incomplete frame")
    return plain
