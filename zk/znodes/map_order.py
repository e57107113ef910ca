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


def scala_set_order(elements: Iterable[str]) -> list[str]:
    """Order of an immutable HashSet of five and more: a tree of 32 branches, each node's own
    elements before those of its branches.
    """
    return _branch_order([(_improved_hash(one), one) for one in elements], 0)


def scala_set_text(elements: Iterable[str]) -> str:
    """An immutable Set as it shows itself; up to four elements keep their order of insertion."""
    found = list(elements)
    if len(found) > 4:
        return f"HashSet({', '.join(scala_set_order(found))})"
    return f"Set({', '.join(found)})"


def _branch_order(hashed: list[tuple[int, str]], shift: int) -> list[str]:
    branches: dict[int, list[tuple[int, str]]] = {}
    for each in hashed:
        branches.setdefault(each[0] >> shift & 31, []).append(each)
    inner = [branches[index] for index in sorted(branches)]
    if shift > 31:
        return [one for branch in inner for _, one in branch]
    own = [branch[0][1] for branch in inner if len(branch) == 1]
    below = [branch for branch in inner if len(branch) > 1]
    return own + [one for branch in below for one in _branch_order(branch, shift + 5)]


def _improved_hash(element: str) -> int:
    """scala.collection.Hashing.improve, in 32 bits."""
    mask = 0xFFFFFFFF
    value = string_hash(element) & mask
    value = (value + (~(value << 9) & mask)) & mask
    value ^= value >> 14
    value = (value + (value << 4)) & mask
    return value ^ (value >> 10)


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
