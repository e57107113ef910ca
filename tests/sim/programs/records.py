"""What programs hand to producers, what leaves those, and what programs are told of it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from logquake.client.producer.delivery import Outcome
from logquake.wire.topic_partition import TopicPartition


class Handed(NamedTuple):
    """A record of that unique value, the ``number``-th of its producer's to that partition.

    ``patience_ms`` is the producer's delivery.timeout.ms.
    """

    producer: str
    place: TopicPartition
    number: int
    value: bytes
    at_ms: int
    patience_ms: int

    @property
    def overdue_ms(self) -> int:
        return self.at_ms + self.patience_ms


class Sequence31(NamedTuple):
    """What a batch goes by: whose it is, of which epoch, and its first record's sequence."""

    place: TopicPartition
    producer_id: int
    epoch: int
    first: int


@dataclass(frozen=True, slots=True)
class Left:
    """A batch of those records left its producer for ``broker``."""

    producer: str
    broker: int
    sequence: Sequence31
    values: Sequence[bytes]
    at_ms: int


@dataclass(frozen=True, slots=True)
class Told:
    """A program was told what became of a record."""

    handed: Handed
    outcome: Outcome
    at_ms: int


@dataclass(slots=True)
class Records:
    """``contents`` of each batch that left, by its value, which is its CRC; ``epochs`` in which a
    record left. ``doubted`` are partitions, each with a producer that a broker told there of a gap
    in the sequences, or that gave up a record.
    """

    contents: dict[int, Sequence[bytes]] = field(default_factory=dict)
    by_value: dict[bytes, Handed] = field(default_factory=dict)
    by_sequence: dict[Sequence31, Sequence[bytes]] = field(default_factory=dict)
    epochs: defaultdict[bytes, set[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(set)
    )
    doubted: set[tuple[str, TopicPartition]] = field(default_factory=set)
    told: list[Told] = field(default_factory=list)
    untold: defaultdict[tuple[str, TopicPartition], deque[Handed]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    _counts: defaultdict[tuple[str, TopicPartition], int] = field(
        default_factory=lambda: defaultdict(int)
    )

    def hand(
        self, producer: str, place: TopicPartition, value: bytes, at_ms: int, patience_ms: int
    ) -> Handed:
        self._counts[producer, place] += 1
        number = self._counts[producer, place]
        handed = Handed(producer, place, number, value, at_ms, patience_ms)
        self.by_value[value] = handed
        self.untold[producer, place].append(handed)
        return handed

    def next_untold(self, told: Handed) -> Handed | None:
        """Of the same producer and partition, taken off."""
        waiting = self.untold[told.producer, told.place]
        return waiting.popleft() if waiting else None

    def of(self, values: Sequence[bytes]) -> Iterator[Handed]:
        """Those that programs handed over; other batches hold other values."""
        for value in values:
            if value in self.by_value:
                yield self.by_value[value]
