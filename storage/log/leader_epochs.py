"""Which leader epoch wrote which offsets of a log (KIP-101, Kafka's LeaderEpochFileCache).

Pure: the log writes the entries to leader-epoch-checkpoint whenever ``changed`` says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from logquake.wire.sentinels import NO_LEADER_EPOCH, UNKNOWN_OFFSET


class EpochEntry(NamedTuple):
    epoch: int
    start_offset: int


class LeaderEpochs:
    """Entries ascend in epoch and in start offset."""

    def __init__(self, entries: Iterable[tuple[int, int]] = ()) -> None:
        self._entries: list[EpochEntry] = []
        for epoch, start_offset in entries:
            self.assign(epoch, start_offset)
        self.changed = False

    @property
    def entries(self) -> tuple[EpochEntry, ...]:
        return tuple(self._entries)

    @property
    def latest(self) -> int | None:
        return self._entries[-1].epoch if self._entries else None

    def assign(self, epoch: int, start_offset: int) -> None:
        """Epoch begins at start_offset; entries at or beyond either of the two make way."""
        if self._entries:
            last = self._entries[-1]
            if epoch == last.epoch and start_offset >= last.start_offset:
                return
        while self._entries and (
            self._entries[-1].epoch >= epoch or self._entries[-1].start_offset >= start_offset
        ):
            self._entries.pop()
        self._entries.append(EpochEntry(epoch, start_offset))
        self.changed = True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(epoch, end offset) for OffsetsForLeaderEpoch; neither of them when nothing is known.

        The epoch answered is the largest known one at or below the epoch asked for; its end is
        where the next epoch starts, or the log's end for the latest.
        """
        if epoch == NO_LEADER_EPOCH or not self._entries:
            return NO_LEADER_EPOCH, UNKNOWN_OFFSET
        if epoch == self._entries[-1].epoch:
            return epoch, log_end_offset
        above = bisect_right([entry.epoch for entry in self._entries], epoch)
        if above == len(self._entries):
            return NO_LEADER_EPOCH, UNKNOWN_OFFSET
        end_offset = self._entries[above].start_offset
        return (self._entries[above - 1].epoch if above else epoch), end_offset

    def epoch_for(self, offset: int) -> int | None:
        """The epoch that wrote offset; None before the first entry."""
        above = bisect_right([entry.start_offset for entry in self._entries], offset)
        return self._entries[above - 1].epoch if above else None

    def truncate_from_end(self, end_offset: int) -> None:
        """The log now ends at end_offset: epochs that start there or later are gone."""
        while self._entries and self._entries[-1].start_offset >= end_offset:
            self._entries.pop()
            self.changed = True

    def truncate_from_start(self, start_offset: int) -> None:
        """The log now starts at start_offset, within an epoch that from now on starts there."""
        above = bisect_right([entry.start_offset for entry in self._entries], start_offset)
        if above and self._entries[above - 1].start_offset < start_offset:
            first = EpochEntry(self._entries[above - 1].epoch, start_offset)
            self._entries[:above] = [first]
            self.changed = True
        elif above > 1:
            del self._entries[: above - 1]
            self.changed = True

    def clear(self) -> None:
        self.changed = self.changed or bool(self._entries)
        self._entries.clear()

    def restore(self, entries: tuple[EpochEntry, ...]) -> None:
        """Back to earlier entries, after a write that failed."""
        self._entries = list(entries)
        self.changed = True
