"""Which partition a record goes to (KafkaProducer.partition, BuiltInPartitioner; KIP-480, KIP-794).

The record names it, or the program's partitioner or the record's key (hashing.py) determines it.
All other records go to one sticky partition until it has received about a batch, and then to a
random one, with a preference for short queues.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import index
from random import Random
from typing import NamedTuple, Protocol

from logquake.client.producer.hashing import partition_for
from logquake.client.producer.leaders import PartitionsOfTopic


class Partitioner(Protocol):
    """The program's own, partitioner.class. Called by the sending thread, without the lock."""

    def partition(
        self, topic: str, key: bytes | None, value: bytes | None, partitions: PartitionsOfTopic, /
    ) -> int:
        """Returns one of ``partitions.all``."""


def programs_choice(
    own: Partitioner,
    topic: str,
    key: bytes | None,
    value: bytes | None,
    partitions: PartitionsOfTopic,
) -> int:
    """Raises ValueError if it is negative, TypeError if it is not an integer."""
    chosen = index(own.partition(topic, key, value, partitions))
    if chosen < 0:
        raise ValueError(f"a partitioner chose {chosen}, a partition is never below 0")
    return chosen


class Chooser:
    """``ignores_keys`` is partitioner.ignore.keys: keyed records are sticky too."""

    def __init__(self, *, ignores_keys: bool = False) -> None:
        self._ignores_keys = ignores_keys

    def choose(
        self,
        partition: int | None,
        key: bytes | None,
        partitions: PartitionsOfTopic,
    ) -> int | None:
        """None means any partition: the topic's `StickyPartitioner` decides.

        ``partition`` is the record's own, or the choice of the program's partitioner.
        """
        if partition is not None:
            return partition
        if key is not None and not self._ignores_keys:
            return partition_for(key, len(partitions.all))
        return None


class _Load(NamedTuple):
    """Each partition in ``ids`` is drawn in proportion to its step in ``rising``."""

    rising: Sequence[int]
    ids: Sequence[int]


class StickyPartitioner:
    """For one topic. ``stick_bytes`` is batch.size, at least 1."""

    def __init__(self, stick_bytes: int, random: Random) -> None:
        self._stick_bytes = stick_bytes
        self._random = random
        self._load: _Load | None = None
        self._current: int | None = None
        self._produced_bytes = 0  # to the current one since the last switch

    def current(self, partitions: PartitionsOfTopic) -> int:
        if self._current is None:
            self._current = self._draw(partitions)
        elif self._current >= len(partitions.all):  # the topic was created again, smaller
            self.weigh_all_alike()  # the weighed ones may be gone as well
            self._current = self._draw(partitions)
            self._produced_bytes = 0
        return self._current

    def produced(
        self, appended_bytes: int, partitions: PartitionsOfTopic, *, may_switch: bool
    ) -> bool:
        """Count bytes for the current partition. Returns whether it has switched.

        ``may_switch`` is False while a batch is filling: a switch would send it half full. Twice
        the bytes switch anyway, since keyed records may keep such a batch there.
        """
        if not self.counted(appended_bytes, may_switch=may_switch):
            return False
        self._current = self._draw(partitions)
        self._produced_bytes = 0
        return True

    def counted(self, appended_bytes: int, *, may_switch: bool) -> bool:
        """Count bytes, and return whether produced() would switch now."""
        self._produced_bytes += appended_bytes
        enough = self._stick_bytes if may_switch else self._stick_bytes * 2
        return self._produced_bytes >= enough

    def weigh(self, queue_sizes: Sequence[int], ids: Sequence[int], partition_count: int) -> None:
        """Draw from ``ids`` by their waiting batches: the fewer, the more likely.

        Of the ``partition_count`` partitions, those not in ``ids`` are not drawn.
        """
        is_even = len(ids) == partition_count and len(set(queue_sizes)) == 1
        if not ids or partition_count < 2 or is_even:
            self._load = None
            return
        longest = max(queue_sizes)
        self._load = _Load(list(accumulate(longest + 1 - size for size in queue_sizes)), list(ids))

    def weigh_all_alike(self) -> None:
        self._load = None

    def _draw(self, partitions: PartitionsOfTopic) -> int:
        if self._load is None:
            return self._random.choice(partitions.available or partitions.all)
        drawn = self._random.randrange(self._load.rising[-1])
        return self._load.ids[bisect_right(self._load.rising, drawn)]
