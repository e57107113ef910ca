"""Which partition a record goes to (KafkaProducer.partition, BuiltInPartitioner; KIP-480, KIP-794).

The record names it, or the program's partitioner chooses it, or its key does (hashing.py). Any
other record sticks to one partition until about a batch has gone there, and then to a random one,
with a preference for short queues.
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
    """A program's own, partitioner.class. It is asked by who sends, who holds no lock."""

    def partition(
        self, topic: str, key: bytes | None, value: bytes | None, partitions: PartitionsOfTopic, /
    ) -> int:
        """One of ``partitions.all``."""


def programs_choice(
    own: Partitioner,
    topic: str,
    key: bytes | None,
    value: bytes | None,
    partitions: PartitionsOfTopic,
) -> int:
    """Raises ValueError where that is below 0, TypeError where it is no whole number."""
    chosen = index(own.partition(topic, key, value, partitions))
    if chosen < 0:
        raise ValueError(f"a partitioner chose {chosen}, a partition is never below 0")
    return chosen


class Chooser:
    """``ignores_keys`` is partitioner.ignore.keys: records with a key stick too."""

    def __init__(self, *, ignores_keys: bool = False) -> None:
        self._ignores_keys = ignores_keys

    def choose(
        self,
        partition: int | None,
        key: bytes | None,
        partitions: PartitionsOfTopic,
    ) -> int | None:
        """None: any will do, as the topic's `StickyPartitioner` says.

        ``partition`` is what the record says itself, or the program's own partitioner said.
        """
        if partition is not None:
            return partition
        if key is not None and not self._ignores_keys:
            return partition_for(key, len(partitions.all))
        return None


class _Load(NamedTuple):
    """Of the partitions at ``ids`` each is drawn in proportion to its step in ``rising``."""

    rising: Sequence[int]
    ids: Sequence[int]


class StickyPartitioner:
    """Of one topic. ``stick_bytes`` is batch.size, at least 1."""

    def __init__(self, stick_bytes: int, random: Random) -> None:
        self._stick_bytes = stick_bytes
        self._random = random
        self._load: _Load | None = None
        self._current: int | None = None
        self._produced_bytes = 0  # to the current one since it is that

    def current(self, partitions: PartitionsOfTopic) -> int:
        if self._current is None:
            self._current = self._draw(partitions)
        elif self._current >= len(partitions.all):  # the topic was made again, with fewer
            self.weigh_all_alike()  # what was weighed may be gone as well
            self._current = self._draw(partitions)
            self._produced_bytes = 0
        return self._current

    def produced(
        self, appended_bytes: int, partitions: PartitionsOfTopic, *, may_switch: bool
    ) -> bool:
        """So many bytes more went to the current one; whether another one is current now.

        ``may_switch`` is False while a batch is filling: a switch would send it half full. Twice
        the bytes switch all the same, since records with keys may keep such a batch there.
        """
        if not self.counted(appended_bytes, may_switch=may_switch):
            return False
        self._current = self._draw(partitions)
        self._produced_bytes = 0
        return True

    def counted(self, appended_bytes: int, *, may_switch: bool) -> bool:
        """So many bytes more went there; whether produced() would switch now."""
        self._produced_bytes += appended_bytes
        enough = self._stick_bytes if may_switch else self._stick_bytes * 2
        return self._produced_bytes >= enough

    def weigh(self, queue_sizes: Sequence[int], ids: Sequence[int], partition_count: int) -> None:
        """Draw by the batches that wait for each of ``ids``, the fewer the more likely.

        Those of the ``partition_count`` that are not among ``ids`` are not drawn.
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
