"""The partition of a key: murmur2, 32 bits (org.apache.kafka.common.utils.Utils).

Its seed is 0x9747b28c, so that a key gets the same partition here, in Java, and with librdkafka's
murmur2 partitioners.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct

SEED = 0x9747B28C
MIX = 0x5BD1E995
_MASK = 0xFFFFFFFF
_WORD = Struct("<I")
_SHORT_BYTES = 64  # the cache takes at most about two megabytes


def partition_for(key: bytes, partition_count: int) -> int:
    hashed = _murmur2_again(key) if len(key) <= _SHORT_BYTES else murmur2(key)
    return (hashed & 0x7FFFFFFF) % partition_count


def murmur2(data: bytes) -> int:
    """Returns an unsigned 32-bit hash."""
    length = len(data)
    whole = length & ~3
    state = SEED ^ length
    for (word,) in _WORD.iter_unpack(data[:whole]):
        mixed = word * MIX & _MASK
        state = (state * MIX ^ (mixed ^ mixed >> 24) * MIX) & _MASK
    if tail := data[whole:]:
        state = (state ^ int.from_bytes(tail, "little")) * MIX & _MASK
    state = (state ^ state >> 13) * MIX & _MASK
    return state ^ state >> 15


# Keys recur, and hashing one costs as much as everything else for a short record.
_murmur2_again = lru_cache(maxsize=8_192)(murmur2)
