"""Topics for assignors."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client.consumer.assignors.assignor import PartitionsByTopic


def without_racks(partition_counts: Mapping[str, int]) -> PartitionsByTopic:
    """Topics of which only the number of partitions counts."""
    return {topic: [frozenset()] * count for topic, count in partition_counts.items()}
