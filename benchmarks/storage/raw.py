"""The least that must be done with bytes: checksum, decompress, read.

No record is looked at. Decompression is the library's shortest way, without a bound on what comes
out of it.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import cramjam
import crc32c
import lz4.frame
import zstandard

from logquake.wire.compression import Codec
from logquake.wire.records import HEADER_BYTES

CHUNK_BYTES = 1 << 20
CHECKSUMMED_FROM = 21  # position in a batch; the CRC covers the rest

_GZIP_WINDOW_BITS = 31
_SNAPPY_FRAME_BYTES = 20  # snappy-java's preamble and the length of the only block


@contextlib.contextmanager
def descriptor(path: Path, flags: int) -> Iterator[int]:
    opened = os.open(path, flags, 0o644)
    try:
        yield opened
    finally:
        os.close(opened)


def check(batch: memoryview) -> None:
    crc32c.crc32c(batch[CHECKSUMMED_FROM:])


def expander(codec: Codec) -> Callable[[memoryview], object]:
    """Decompresses a whole batch's records, of at most 32 KiB where they are snappy."""
    zstd = zstandard.ZstdDecompressor()
    expand: dict[Codec, Callable[[memoryview], object]] = {
        Codec.NONE: lambda _: None,
        Codec.GZIP: lambda packed: zlib.decompress(packed, _GZIP_WINDOW_BITS),
        Codec.SNAPPY: lambda packed: cramjam.snappy.decompress_raw(packed[_SNAPPY_FRAME_BYTES:]),
        Codec.LZ4: lz4.frame.decompress,
        Codec.ZSTD: zstd.decompress,
    }
    chosen = expand[codec]
    return lambda batch: chosen(batch[HEADER_BYTES:])


def read_checked(path: Path) -> Iterator[bytes]:
    """The file in chunks, a CRC taken of each."""
    with descriptor(path, os.O_RDONLY) as opened:
        position = 0
        while chunk := os.pread(opened, CHUNK_BYTES, position):
            crc32c.crc32c(chunk)
            yield chunk
            position += len(chunk)
