"""Records that a client sent again under a new producer epoch, as a partition's files show them.

A broker tells a repeated batch by its producer id, epoch and sequence, and promises nothing beyond
one epoch (KIP-98). librdkafka gives its producer a new epoch as soon as one partition had a gap
(rd_kafka_idemp_drain_epoch_bump), and sends under it whatever it has no ack for, to any partition:
what the old epoch had brought into a log is there twice then. No broker can know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from logquake.wire.records import BatchHeader, iterate_batches, iterate_records

_LARGEST_BATCH_BYTES = 1 << 30

Content = tuple[bytes | None, bytes | None]


@dataclass(frozen=True, slots=True)
class Copy:
    """Where a record is, and by which sequence its producer sent it."""

    offset: int
    producer_id: int
    producer_epoch: int
    sequence: int

    def __str__(self) -> str:
        return (
            f"{self.offset} (producer {self.producer_id}, epoch {self.producer_epoch}, "
            f"sequence {self.sequence})"
        )


@dataclass(frozen=True, slots=True)
class Repeated:
    """One key and value that is in a partition more than once, in the order of the log."""

    partition: int
    content: Content
    copies: tuple[Copy, ...]

    @property
    def is_resent(self) -> bool:
        """Each copy is of an epoch of its own. Of one epoch a broker must not take two."""
        epochs = {(copy.producer_id, copy.producer_epoch) for copy in self.copies}
        return len(epochs) == len(self.copies)

    def __str__(self) -> str:
        places = ", ".join(map(str, self.copies))
        return f"partition {self.partition}: {self.content[1]!r} at {places}"


def repeated_records(data: Path, topic: str, partitions: Iterable[int]) -> list[Repeated]:
    """Of each partition whose folder is in the log directory ``data``."""
    found = []
    for partition in partitions:
        copies: dict[Content, list[Copy]] = {}
        for content, copy in _records(data / f"{topic}-{partition}"):
            copies.setdefault(content, []).append(copy)
        found += [
            Repeated(partition, content, tuple(places))
            for content, places in copies.items()
            if len(places) > 1
        ]
    return found


def resent_records(repeated: Iterable[Repeated]) -> Counter[Content]:
    """How many copies there are of each besides the first, where that was the client's doing."""
    more: Counter[Content] = Counter()
    for each in repeated:
        if each.is_resent:
            more[each.content] += len(each.copies) - 1
    return more


def _records(folder: Path) -> Iterator[tuple[Content, Copy]]:
    for segment in sorted(folder.glob("*.log")):
        view = memoryview(segment.read_bytes())
        for position, header in iterate_batches(view):
            for record in iterate_records(view, position, header, _LARGEST_BATCH_BYTES):
                yield (record.key, record.value), _copy(header, record.offset)


def _copy(header: BatchHeader, offset: int) -> Copy:
    sequence = header.base_sequence + offset - header.base_offset
    return Copy(offset, header.producer_id, header.producer_epoch, sequence)
