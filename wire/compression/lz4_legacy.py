"""LZ4 frames of magic 0, whose header checksum is wrong (KAFKA-3160).

Kafka's first writer of frames checksummed the frame's magic number along with the descriptor, and
clients came to expect it. It is written so, and read whatever it is.
"""

from __future__ import annotations

import struct

from logquake.wire.compression.bounds import Buffer, broken
from logquake.wire.compression.lz4_frames import compress_lz4, decompress_lz4

_MAGIC_BYTES = 4
_DESCRIPTOR_BYTES = 2
_CONTENT_SIZE_BYTES = 8
_CONTENT_SIZE_FLAG = 0x08
_WORD = struct.Struct("<I")
_PRIMES = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
_MASK = 0xFFFFFFFF


def compress(data: Buffer) -> bytes:
    frame = bytearray(compress_lz4(data))
    end = _MAGIC_BYTES + _DESCRIPTOR_BYTES
    frame[end] = _checksum(bytes(frame[:end]))
    return bytes(frame)


def decompress(data: Buffer, limit: int) -> bytes:
    frame = bytearray(data)
    end = _MAGIC_BYTES + _DESCRIPTOR_BYTES
    if len(frame) > end and frame[_MAGIC_BYTES] & _CONTENT_SIZE_FLAG:
        end += _CONTENT_SIZE_BYTES
    if len(frame) <= end:
        raise broken("lz4", "incomplete frame header")
    frame[end] = _checksum(bytes(frame[_MAGIC_BYTES:end]))
    return decompress_lz4(frame, limit)


def _checksum(data: bytes) -> int:
    """The second byte of XXH32, seed 0, of less than 16 bytes."""
    prime1, prime2, prime3, prime4, prime5 = _PRIMES
    value = (prime5 + len(data)) & _MASK
    words = len(data) // _WORD.size * _WORD.size
    for (word,) in _WORD.iter_unpack(data[:words]):
        value = _rotated(value + word * prime3, 17) * prime4 & _MASK
    for byte in data[words:]:
        value = _rotated(value + byte * prime5, 11) * prime1 & _MASK
    value = (value ^ value >> 15) * prime2 & _MASK
    value = (value ^ value >> 13) * prime3 & _MASK
    return (value ^ value >> 16) >> 8 & 0xFF


def _rotated(value: int, bits: int) -> int:
    value &= _MASK
    return (value << bits | value >> 32 - bits) & _MASK
