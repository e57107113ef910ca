"""The table of codecs by their id in a batch's attributes (KIP-98; zstd: KIP-110)."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from enum import IntEnum

from logquake.wire.compression import lz4_legacy, snappy, zstd
from logquake.wire.compression.bounds import Buffer, broken, too_large
from logquake.wire.compression.lz4_frames import compress_lz4, decompress_lz4
from logquake.wire.errors import ErrorCode, RecordError

_GZIP_MAGIC = b"\x1f\x8b\x08"  # and deflate, its only method
_SMALLEST_GZIP_BYTES = 18  # header and trailer
GZIP_WINDOW_BITS = 31  # zlib's largest window, with gzip's header and trailer


class Codec(IntEnum):
    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_CODECS = tuple(Codec)
_FIRST_MAGIC_WITH_SOUND_LZ4 = 1


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


def compress(codec: Codec, data: Buffer, level: int | None = None) -> bytes:
    """One compressed block that Kafka's own clients can read.

    `level` is what compression.gzip.level, lz4.level or zstd.level says (KIP-390); None is Kafka's
    default. The other codecs have none.
    """
    return _COMPRESS[codec](data, level)


def decompress(codec: Codec, data: Buffer, limit: int) -> bytes:
    """The plain bytes, at most `limit` of them.

    Raises RecordError: CORRUPT_MESSAGE for bytes that are broken or incomplete,
    MESSAGE_TOO_LARGE past the limit.
    """
    return _DECOMPRESS[codec](data, limit)


def compress_for_magic(magic: int, codec: Codec, data: Buffer) -> bytes:
    """As compress, for records of an older format: LZ4 of magic 0 is framed in its own way."""
    if codec is Codec.LZ4 and magic < _FIRST_MAGIC_WITH_SOUND_LZ4:
        return lz4_legacy.compress(data)
    return compress(codec, data)


def decompress_for_magic(magic: int, codec: Codec, data: Buffer, limit: int) -> bytes:
    """As decompress, for records of an older format."""
    if codec is Codec.LZ4 and magic < _FIRST_MAGIC_WITH_SOUND_LZ4:
        return lz4_legacy.decompress(data, limit)
    return decompress(codec, data, limit)


def _keep(data: Buffer, _level: int | None) -> bytes:
    return bytes(data)


def _keep_bounded(data: Buffer, limit: int) -> bytes:
    if len(data) > limit:
        raise too_large("uncompressed records", limit)
    return bytes(data)


def _compress_gzip(data: Buffer, level: int | None) -> bytes:
    used = zlib.Z_DEFAULT_COMPRESSION if level is None else level
    compressor = zlib.compressobj(used, wbits=GZIP_WINDOW_BITS)
    return compressor.compress(data) + compressor.flush()


def _decompress_gzip(data: Buffer, limit: int) -> bytes:
    """Every member of a gzip stream, as Java's GZIPInputStream reads them as one."""
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
        if not _begins_member(remaining):
            return b"".join(members)


def _begins_member(remaining: Buffer) -> bool:
    """Whatever else follows a member, GZIPInputStream passes over."""
    return len(remaining) >= _SMALLEST_GZIP_BYTES and remaining[:3] == _GZIP_MAGIC


def _compress_snappy(data: Buffer, _level: int | None) -> bytes:
    return snappy.compress(data)


_COMPRESS: dict[Codec, Callable[[Buffer, int | None], bytes]] = {
    Codec.NONE: _keep,
    Codec.GZIP: _compress_gzip,
    Codec.SNAPPY: _compress_snappy,
    Codec.LZ4: compress_lz4,
    Codec.ZSTD: zstd.compress,
}

_DECOMPRESS: dict[Codec, Callable[[Buffer, int], bytes]] = {
    Codec.NONE: _keep_bounded,
    Codec.GZIP: _decompress_gzip,
    Codec.SNAPPY: snappy.decompress,
    Codec.LZ4: decompress_lz4,
    Codec.ZSTD: zstd.decompress,
}
