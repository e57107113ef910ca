"""Gzip within a bound: one member is written, any number of them is read as one stream.

What follows a member, and begins no other, is passed over, as Java's GZIPInputStream does.
"""

from __future__ import annotations

import zlib

from logquake.wire.compression.bounds import Buffer, broken, too_large

_MAGIC = b"\x1f\x8b\x08"  # and deflate, its only method
_SMALLEST_MEMBER_BYTES = 18  # header and trailer
_WINDOW_BITS = 31  # zlib's largest window, with gzip's header and trailer
_PIECE_BYTES = 4 * 1024


def compress(data: Buffer, level: int | None) -> bytes:
    used = zlib.Z_DEFAULT_COMPRESSION if level is None else level
    compressor = zlib.compressobj(used, wbits=_WINDOW_BITS)
    return compressor.compress(data) + compressor.flush()


def decompress(data: Buffer, limit: int) -> bytes:
    plain: list[bytes] = []
    left, position = limit, 0
    # All of it to the first member, which mostly is the only one. The others get pieces: what a
    # member leaves is copied, and all that follows, for each, is quadratic where members are small.
    piece_bytes = len(data)
    with memoryview(data) as view:
        while True:
            member = zlib.decompressobj(_WINDOW_BITS)
            while not member.eof:
                piece = view[position : position + piece_bytes]
                part = _inflate(member, piece, left + 1)
                left -= len(part)
                if left < 0:
                    raise too_large("gzip", limit)
                plain.append(part)
                position += len(piece) - len(member.unused_data)
            if not _begins_member(view[position : position + _SMALLEST_MEMBER_BYTES]):
                return b"".join(plain)
            piece_bytes = _PIECE_BYTES


def _inflate(member: zlib._Decompress, piece: memoryview, most_bytes: int) -> bytes:
    if not piece:
        raise broken("gzip", "incomplete stream")
    try:
        return member.decompress(piece, most_bytes)
    except zlib.error as error:
        raise broken("gzip", error) from error


def _begins_member(head: memoryview) -> bool:
    return len(head) >= _SMALLEST_MEMBER_BYTES and head[: len(_MAGIC)] == _MAGIC
