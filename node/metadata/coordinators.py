"""Who coordinates a group or a transactional id: who leads its partition of an internal topic."""

from __future__ import annotations

from logquake.node.metadata.cache import MetadataCache
from logquake.wire.java_text import string_hash

_LARGEST_HASH = 2**31 - 1


def coordinator_of(metadata: MetadataCache, topic: str, key: str) -> int | None:
    """Its broker id, as told to this broker; None where the topic or the partition is not known,
    or not how many there are.

    It may be NO_LEADER, or a broker that is gone.
    """
    image = metadata.topic(topic)
    count = None if image is None else image.partition_count
    if image is None or count is None:
        return None
    state = image.partitions.get(partition_for(key, count))
    return None if state is None else state.leader


def partition_for(key: str, partitions: int) -> int:
    """GroupMetadataManager.partitionFor, with Utils.abs: the smallest int counts as 0."""
    hashed = abs(string_hash(key))
    return 0 if hashed > _LARGEST_HASH else hashed % partitions
