"""The table of codecs by their id in a batch's attributes (KIP-98; zstd: KIP-110).

Caveat: lz4 here is the frame format of magic 2. Frames of magic 0 carry a wrong header checksum
and are refused.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from enum import IntEnum

import lz4.frame

from logquake.wire.compression import snappy, zstd
from logquake.wire.compression.bounds import Buffer, broken, too_large
from logquake.wire.errors import ErrorCode, RecordError

GZIP_WINDOW_BITS = 31  # zlib's largest window, with gzip's header and trailer


class Codec(IntEnum):
    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_CODECS = tuple(Codec)


def codec_of(attributes: int) -> Codec:
    """The codec in the low three bits of a batch's attributes.

    Raises RecordError UNSUPPORTED_COMPRESSION_TYPE for the three ids nobody has defined.
    """
    index = attributes & 0x07
    if index >= len(_CODECS):
        raise RecordError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"unknown compression type id {index}"
        )
    return _CODECS[index]


def compress(codec: Codec, data: Buffer) -> bytes:
    """One compressed block that Kafka's own clients can read."""
    return _COMPRESS[codec](data)


def decompress(codec: Codec, data: Buffer, limit: int) -> bytes:
    """The plain bytes, at most `limit` of them.

    Raises RecordError: CORRUPT_MESSAGE for bytes that are broken, incomplete or followed by
    others, MESSAGE_TOO_LARGE past the limit.
    """
    return _DECOMPRESS[codec](data, limit)


def _keep(data: Buffer) -> bytes:
    return bytes(data)


def _keep_bounded(data: Buffer, limit: int) -> bytes:
    if len(data) > limit:
        raise too_large("uncompressed records", limit)
    return bytes(data)


def _compress_gzip(data: Buffer) -> bytes:
    compressor = zlib.compressobj(wbits=GZIP_WINDOW_BITS)
    return compressor.compress(data) + compressor.flush()


def _decompress_gzip(data: Buffer, limit: int) -> bytes:
    """Every member of a gzip stream: Java's GZIPInputStream reads concatenated ones as one."""
    members: list[bytes] = []
    left = limit
    remaining: Buffer = data
    while True:
        member = zlib.decompressobj(GZIP_WINDOW_BITS)
        try:
            plain = member.decompress(remaining, left + 1)
        except zlib.error as error:
            raise broken("gzip", error) from error
        left -= len(plain)
        if left < 0:
            raise too_large("gzip", limit)
        if not member.eof:
            raise broken("gzip", "incomplete stream")
        members.append(plain)
        remaining = member.unused_data
        if not remaining:
            return b"".join(members)


def _compress_lz4(data: Buffer) -> bytes:
    # Kafka's reader refuses frames whose blocks depend on each other.
    frame: bytes = lz4.frame.compress(data, block_linked=False, store_size=False)
    return frame


def _decompress_lz4(data: Buffer, limit: int) -> bytes:
    frame = lz4.frame.LZ4FrameDecompressor()
    try:
        plain: bytes = frame.decompress(data, limit + 1)
    except RuntimeError as error:
        raise broken("lz4", error) from error
    if len(plain) > limit:
        raise too_large("lz4", limit)
    if not frame.eof or frame.unused_data:
        raise broken("lz4", "incomplete frame" if not frame.eof else "bytes after the frame")
    return plain


_COMPRESS: dict[Codec, Callable[[Buffer], bytes]] = {
    Codec.NONE: _keep,
    Codec.GZIP: _compress_gzip,
    Codec.SNAPPY: snappy.compress,
    Codec.LZ4: _compress_lz4,
    Codec.ZSTD: zstd.compress,
}

_DECOMPRESS: dict[Codec, Callable[[Buffer, int], bytes]] = {
    Codec.NONE: _keep_bounded,
    Codec.GZIP: _decompress_gzip,
    Codec.SNAPPY: snappy.decompress,
    Codec.LZ4: _decompress_lz4,
    Codec.ZSTD: zstd.decompress,
}
