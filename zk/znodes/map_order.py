"""The order in which Kafka's hash maps give their keys, which is the order in its JSON.

Kafka writes its znodes from unordered maps, so "as Kafka, byte for byte" means the order of
scala.collection.mutable.HashMap (2.13) and of java.util.Properties for these keys.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.wire.java_text import string_hash

_DEFAULT_BUCKETS = 16


def scala_order(keys: Iterable[str]) -> list[str]:
    """Order of a mutable.HashMap that grew from empty; a bucket is sorted by signed hash."""
    keys = list(keys)
    mask = _buckets(len(keys)) - 1
    hashes = {key: _spread_hash(key) for key in keys}
    return sorted(keys, key=lambda key: (hashes[key] & mask, _signed(hashes[key])))


def properties_order(keys: Iterable[str]) -> list[str]:
    """Order of a java.util.Properties; a bucket keeps the order of insertion."""
    keys = list(keys)
    mask = _buckets(len(keys)) - 1
    return sorted(keys, key=lambda key: _spread_hash(key) & mask)


def _buckets(count: int) -> int:
    """Both maps start with 16 buckets and double when three quarters are reached."""
    buckets = _DEFAULT_BUCKETS
    while count >= buckets * 3 // 4:
        buckets *= 2
    return buckets


def _spread_hash(key: str) -> int:
    """What both maps make of a key's hash, as an unsigned 32-bit number."""
    value = string_hash(key) & 0xFFFFFFFF
    return value ^ (value >> 16)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value
