"""Every replica's log as seen from outside, kept beside the broker so that a change is noticed.

What a replica holds outlives its process: kill -9 leaves the page cache, so the picture of a dead
broker's log is its picture from before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from logquake.storage.log.log import Log
from logquake.wire.records import BatchHeader
from logquake.wire.topic_partition import TopicPartition


class Batch(NamedTuple):
    """One batch. ``value`` is its CRC, which covers the records but neither offset nor epoch:
    with unique records it says which send this is. ``prefix`` is a hash of the log up to here.
    ``is_control``: it ends a transaction, and nobody sent it.
    """

    first: int
    next: int
    epoch: int
    value: int
    producer_id: int
    producer_epoch: int
    sequence: int
    is_control: bool
    prefix: int


EMPTY_PREFIX = 0
_NEXT = attrgetter("next")


def batch_after(prefix: int, header: BatchHeader) -> Batch:
    """The header as a Batch in a log that has ``prefix`` before it."""
    first, after = header.base_offset, header.next_offset
    epoch, value = header.partition_leader_epoch, header.crc
    return Batch(
        first,
        after,
        epoch,
        value,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.is_control,
        hash((prefix, (first, after, epoch, value))),
    )


def moved_after(prefix: int, batch: Batch) -> Batch:
    """The same batch in a log that has ``prefix`` before it."""
    identity = (batch.first, batch.next, batch.epoch, batch.value)
    return batch._replace(prefix=hash((prefix, identity)))


@dataclass(slots=True)
class Replica:
    """``broker`` holds these batches of ``partition``, from ``begins`` on.

    ``start`` is where its log starts. What lies before the highest that it ever was on this disk is
    deleted and counts for nothing, though a crash may bring it back. ``lost`` are the values of
    batches that went with an earlier disk.
    """

    broker: int
    partition: TopicPartition
    batches: list[Batch] = field(default_factory=list)
    prefixes: dict[int, int] = field(default_factory=lambda: {0: EMPTY_PREFIX})
    begins: int = 0
    start: int = 0
    highest_start: int = 0
    lost: set[int] = field(default_factory=set)

    @property
    def end(self) -> int:
        return self.batches[-1].next if self.batches else self.begins

    def holds_prefix(self, end: int, prefix: int) -> bool:
        """Whether this log up to ``end`` is the one with that hash."""
        return self.prefixes.get(end) == prefix

    def between(self, start: int, end: int) -> list[Batch]:
        """The batches of [start, end), which lie on boundaries of batches."""
        found: list[Batch] = []
        for batch in reversed(self.batches):
            if batch.first < start:
                break
            if batch.next <= end:
                found.append(batch)
        return found[::-1]

    def truncate_to(self, end: int) -> None:
        while self.batches and self.batches[-1].next > end:
            del self.prefixes[self.batches.pop().next]

    def append(self, header: BatchHeader) -> Batch:
        return self._add(batch_after(self.prefixes[self.end], header))

    def _add(self, batch: Batch) -> Batch:
        self.batches.append(batch)
        self.prefixes[batch.next] = batch.prefix
        return batch

    def holds_from_start(self, end: int, prefix: int) -> bool:
        """The same, but for what was deleted."""
        return self.begins <= self.highest_start and self.holds_prefix(end, prefix)

    def holds_all(self, batches: Iterable[Batch]) -> bool:
        """Whether these are here, whatever lies before them."""
        here = {batch.first: moved_after(EMPTY_PREFIX, batch) for batch in self.batches}
        return all(here.get(b.first) == moved_after(EMPTY_PREFIX, b) for b in batches)

    def held(self, value: int, first: int, end: int) -> bool:
        """Whether the batch is there, or was until it was deleted or its disk lost."""
        is_there = any(batch.value == value for batch in self.between(first, end))
        return is_there or value in self.lost or end <= self.highest_start

    def lose_disk(self) -> None:
        self.lost.update(batch.value for batch in self.batches)
        self._begin(0, EMPTY_PREFIX)
        self.start = self.highest_start = 0

    def catch_up(
        self, log: Log, prefix_at: Callable[[int], int | None], *, is_new_life: bool
    ) -> tuple[list[Batch], int | None]:
        """Take in the log's changes: what was appended, and where it was cut first, if it was.

        ``prefix_at`` is that of all that is committed before an offset: a log may begin there.
        """
        before = kept = self.end
        if log.start_offset != self.start:
            self.start = log.start_offset
            self.highest_start = max(self.start, self.highest_start)
        is_changed = is_new_life or log.written_end_offset != before
        if is_changed:
            last = 0 if is_new_life else max(0, min(before, log.written_end_offset) - 1)
            kept = self._take_in(log, last, prefix_at)
        if self.highest_start > 0:
            self._forget_deleted(prefix_at)
        appended = self.between(kept, self.end) if is_changed else []
        return appended, kept if kept < before else None

    def _take_in(self, log: Log, last: int, prefix_at: Callable[[int], int | None]) -> int:
        """Up to where it is what was known; ``last`` was not cut away."""
        headers = list(log.headers(last))
        if self._continues(headers):
            kept = self._agreement(headers, self.begins)
        else:
            headers = list(log.headers(0))
            begins = headers[0].base_offset if headers else log.written_end_offset
            kept = self._agreement(headers, begins)
            self._find_beginning(begins, prefix_at)
        self.truncate_to(kept)
        for header in headers:
            if header.base_offset >= self.end:
                self.append(header)
        return kept

    def _forget_deleted(self, prefix_at: Callable[[int], int | None]) -> None:
        """What was deleted may have been anything: the leader's epochs tell no longer where the
        logs parted before its start.
        """
        first = bisect_right(self.batches, self.highest_start, key=_NEXT)
        begins = self.batches[first].first if first < len(self.batches) else self.end
        prefix = prefix_at(begins)
        if prefix is not None and prefix != self.prefixes.get(begins):
            kept = self.batches[first:]
            self._begin(begins, prefix)
            for batch in kept:
                self._add(moved_after(self.prefixes[self.end], batch))

    def _find_beginning(self, begins: int, prefix_at: Callable[[int], int | None]) -> None:
        if begins in self.prefixes:
            self.begins = begins
            self.batches = [batch for batch in self.batches if batch.first >= begins]
            return
        prefix = prefix_at(begins)
        # Where nothing committed begins: unlike every other log.
        self._begin(begins, hash((self.broker, begins)) if prefix is None else prefix)

    def _begin(self, begins: int, prefix: int) -> None:
        self.batches.clear()
        self.begins = begins
        self.prefixes = {begins: prefix}

    def _continues(self, headers: list[BatchHeader]) -> bool:
        """Whether the first of these is a batch that is known, so that those before it are."""
        return bool(headers) and self._knows(headers[0])

    def _knows(self, header: BatchHeader) -> bool:
        before = self.prefixes.get(header.base_offset)
        after = self.prefixes.get(header.next_offset)
        return (
            before is not None and after is not None and batch_after(before, header).prefix == after
        )

    def _agreement(self, headers: list[BatchHeader], begins: int) -> int:
        """Where the last known batch ends that is among the log's headers."""
        found = {header.next_offset: header for header in headers}
        for batch in reversed(self.batches):
            header = found.get(batch.next)
            if header is not None and batch_after(EMPTY_PREFIX, header)[:-1] == batch[:-1]:
                return batch.next
        return begins
