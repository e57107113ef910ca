"""Which partition a key belongs to (kafka.producer.Partitioner).

A message without a key bypasses the partitioner, and goes to a random partition.
"""

from __future__ import annotations

from typing import Any, Protocol

from logquake.client.classic.hashing import absolute, java_hash


class Partitioner(Protocol):
    def partition(self, key: Any, num_partitions: int) -> int:
        """From 0 to ``num_partitions`` - 1; the count includes partitions without a leader."""


class DefaultPartitioner:
    """By the key's Java hash."""

    def partition(self, key: Any, num_partitions: int) -> int:
        return absolute(java_hash(key)) % num_partitions
