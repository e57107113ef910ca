"""From a group, or a transactional id, to the partition of its coordinator's topic."""

from __future__ import annotations

from logquake.wire.java_text import string_hash

_LARGEST_HASH = 2**31 - 1


def partition_for(key: str, partitions: int) -> int:
    """GroupMetadataManager.partitionFor, with Utils.abs: the smallest int counts as 0."""
    hashed = abs(string_hash(key))
    return 0 if hashed > _LARGEST_HASH else hashed % partitions
