"""The table of codecs by their id in a batch's attributes (KIP-98; zstd: KIP-110)."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from logquake.wire.compression import gzip_members, lz4_legacy, snappy, zstd
from logquake.wire.compression.bounds import Buffer, too_large
from logquake.wire.compression.lz4_frames import compress_lz4, decompress_lz4
from logquake.wire.errors import ErrorCode, RecordError


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


def _compress_snappy(data: Buffer, _level: int | None) -> bytes:
    return snappy.compress(data)


_COMPRESS: dict[Codec, Callable[[Buffer, int | None], bytes]] = {
    Codec.NONE: _keep,
    Codec.GZIP: gzip_members.compress,
    Codec.SNAPPY: _compress_snappy,
    Codec.LZ4: compress_lz4,
    Codec.ZSTD: zstd.compress,
}

_DECOMPRESS: dict[Codec, Callable[[Buffer, int], bytes]] = {
    Codec.NONE: _keep_bounded,
    Codec.GZIP: gzip_members.decompress,
    Codec.SNAPPY: snappy.decompress,
    Codec.LZ4: decompress_lz4,
    Codec.ZSTD: zstd.decompress,
}
