"""Compression of record batches: five codecs, each decompressed within a bound.

    codecs.py       Codec, compress, decompress: what callers use
    gzip_members.py gzip, of however many members
    snappy.py       the framing of snappy-java ("xerial") that Kafka's clients write
    lz4_frames.py   LZ4 frames, with Kafka's meaning of levels
    lz4_legacy.py   LZ4 frames with the header checksum that magic 0 has
    zstd.py         zstandard with the bound and the completeness check its own API lacks

Bytes that do not decompress, and bytes that decompress past the caller's limit, raise RecordError.
Memory stays near the limit whatever the input claims about itself.
"""

from __future__ import annotations

from logquake.wire.compression.codecs import (
    Codec,
    codec_of,
    compress,
    compress_for_magic,
    decompress,
    decompress_for_magic,
)

__all__ = [
    "Codec",
    "codec_of",
    "compress",
    "compress_for_magic",
    "decompress",
    "decompress_for_magic",
]
