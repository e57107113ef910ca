"""Which partition a key is for (kafka.producer.Partitioner).

A message without a key is not shown to a partitioner: it goes to one at random.
"""

from __future__ import annotations

from typing import Any, Protocol

from logquake.client.classic.hashing import absolute, java_hash


class Partitioner(Protocol):
    def partition(self, key: Any, num_partitions: int) -> int:
        """From 0 to one less than ``num_partitions``, those without a leader counted as well."""


class DefaultPartitioner:
    """By the key's hash, as Java has it."""

    def partition(self, key: Any, num_partitions: int) -> int:
        return absolute(java_hash(key)) % num_partitions
