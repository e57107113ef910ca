"""Kafka's default choice of a partition for a key: murmur2, 32 bits, seed 0x9747b28c.

The same key goes to the same partition from here, from Java (BuiltInPartitioner) and from
librdkafka's murmur2 partitioners.
"""

from __future__ import annotations

_SEED = 0x9747B28C
_MIX = 0x5BD1E995
_MASK = 0xFFFFFFFF


def partition_for(key: bytes, partition_count: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partition_count


def murmur2(data: bytes) -> int:
    """Unsigned 32 bits."""
    length = len(data)
    state = (_SEED ^ length) & _MASK
    whole = length - length % 4
    for start in range(0, whole, 4):
        word = int.from_bytes(data[start : start + 4], "little") * _MIX & _MASK
        word = (word ^ word >> 24) * _MIX & _MASK
        state = (state * _MIX & _MASK) ^ word
    if tail := data[whole:]:
        state = (state ^ int.from_bytes(tail, "little")) * _MIX & _MASK
    state = (state ^ state >> 13) * _MIX & _MASK
    return state ^ state >> 15
