"""Partitions in groups by a key: who leads them, on which broker they are, in which state.

So that an event looks at the partitions that it concerns, however many there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Generic, TypeVar

from logquake.wire.topic_partition import TopicPartition

K = TypeVar("K", bound=Hashable)

_NONE: frozenset[TopicPartition] = frozenset()


class PartitionGroups(Generic[K]):
    """Two are equal if each key has the same partitions in both."""

    def __init__(self) -> None:
        self._groups: dict[K, set[TopicPartition]] = {}

    @property
    def keys(self) -> list[K]:
        """Those that have partitions, in no order."""
        return list(self._groups)

    def of(self, key: K) -> Set[TopicPartition]:
        return self._groups.get(key, _NONE)

    def move(self, partition: TopicPartition, source: K | None, target: K | None) -> None:
        """None is outside of every group."""
        if source == target:
            return
        if source is not None:
            self.remove(partition, source)
        if target is not None:
            self.add(partition, target)

    def add(self, partition: TopicPartition, key: K) -> None:
        self._groups.setdefault(key, set()).add(partition)

    def remove(self, partition: TopicPartition, key: K) -> None:
        group = self._groups[key]
        group.discard(partition)
        if not group:
            del self._groups[key]

    def __repr__(self) -> str:
        return repr(self._groups)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionGroups) and self._groups == other._groups

    __hash__ = None  # type: ignore[assignment]  # it changes
