"""Snappy as Kafka uses it: blocks in snappy-java's framing, or one raw block.

The framing: an 8-byte magic, two version numbers, then blocks, each a big-endian length and that
many bytes of raw snappy. Java writes it; some C clients write a raw block instead. Both are read,
the framing is written, because Java reads nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import cramjam

from logquake.wire.compression.bounds import Buffer, broken, too_large

MAGIC = b"\x82SNAPPY\x00"
_PREAMBLE = struct.Struct(">8sii")
_BLOCK_LENGTH = struct.Struct(">i")
_VERSION = 1
BLOCK_BYTES = 32 * 1024  # snappy-java's default; a reader allocates one block at a time


def compress(data: Buffer) -> bytes:
    parts = [_PREAMBLE.pack(MAGIC, _VERSION, _VERSION)]
    with memoryview(data) as view:
        for start in range(0, len(view), BLOCK_BYTES):
            block = bytes(cramjam.snappy.compress_raw(view[start : start + BLOCK_BYTES]))
            parts += _BLOCK_LENGTH.pack(len(block)), block
    return b"".join(parts)


def decompress(data: Buffer, limit: int) -> bytes:
    left = limit
    plain: list[bytes] = []
    for block in _blocks(memoryview(data)):
        left -= _plain_length(block)
        # Checked before the block is expanded: the length it claims is what would be allocated.
        if left < 0:
            raise too_large("snappy", limit)
        plain.append(_expand(block))
    return b"".join(plain)


def _blocks(view: memoryview) -> Iterator[memoryview]:
    if view[: len(MAGIC)] != MAGIC:
        yield view
        return
    position = _PREAMBLE.size
    if len(view) < position:
        raise broken("snappy", "incomplete preamble")
    # An incomplete length at the end is an end to snappy-java.
    while position + _BLOCK_LENGTH.size <= len(view):
        (length,) = _BLOCK_LENGTH.unpack_from(view, position)
        position += _BLOCK_LENGTH.size
        if not 0 < length <= len(view) - position:
            raise broken("snappy", f"block of {length} bytes, {len(view) - position} are left")
        yield view[position : position + length]
        position += length


def _plain_length(block: memoryview) -> int:
    if not block:
        raise broken("snappy", "empty block")
    try:
        length: int = cramjam.snappy.decompress_raw_len(block)
    except cramjam.DecompressionError as error:
        raise broken("snappy", error) from error
    return length


def _expand(block: memoryview) -> bytes:
    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise broken("snappy", error) from error
