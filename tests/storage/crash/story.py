"""What one partition's log must hold after a crash, told from outside by what was done to it.

A Moment is a state that the log was in, or was about to be in when a call was cut short. Whatever
recovery makes of a crash has to be explained by one of the moments that are possible: those since
the last one that was reached (the process died), or since the last one that was synced (the power
went).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from logquake.wire.records import BatchHeader, read_header
from tests.doubles.memory_disk import Unsynced


class Stored(NamedTuple):
    """One batch as a log holds it."""

    data: bytes

    @property
    def header(self) -> BatchHeader:
        return read_header(memoryview(self.data))


@dataclass(frozen=True, slots=True)
class Moment:
    """``topic_id`` is None where there is no such partition.

    Retention and DeleteRecords raise ``start``; the batches below it stay here, because they may
    still be there, or come back.
    """

    topic_id: bytes | None = None
    start: int = 0
    end: int = 0
    batches: tuple[Stored, ...] = ()

    def with_batches(self, data: Iterable[bytes]) -> Moment:
        added = tuple(map(Stored, data))
        return replace(
            self,
            batches=self.batches + added,
            end=added[-1].header.next_offset if added else self.end,
        )

    def cut_at(self, offset: int) -> Moment:
        kept = tuple(batch for batch in self.batches if batch.header.next_offset <= offset)
        end = kept[-1].header.next_offset if kept else min(self.start, offset)
        return replace(self, batches=kept, start=min(self.start, end), end=end)


@dataclass(frozen=True, slots=True)
class Expectation:
    """``moments`` are the possible ones. ``sure`` are the batches that none of them is without, or
    that were synced: none of these may be lost. ``lowest_start`` is the start offset last
    checkpointed, ``highest_start`` the highest that there ever was.
    """

    moments: tuple[Moment, ...]
    sure: tuple[Stored, ...]
    lowest_start: int
    highest_start: int
    is_compacted: bool


@dataclass(slots=True)
class Story:
    is_compacted: bool = False
    moments: list[Moment] = field(default_factory=lambda: [Moment()])
    reached: int = 0  # the last moment whose operation ended
    synced: int = 0  # the last moment that a sync covered as a whole
    synced_to: int = 0  # of the last moment reached, what is below this offset is synced
    lowest_start: int = 0
    highest_start: int = 0

    @property
    def now(self) -> Moment:
        return self.moments[self.reached]

    def begin(self, moment: Moment) -> None:
        """An operation leads to this moment, should it end."""
        self.moments.append(moment)
        self.highest_start = max(self.highest_start, moment.start)
        self.synced_to = min(self.synced_to, moment.end)

    def end(self) -> None:
        self.reached = len(self.moments) - 1

    def sync(self) -> None:
        """All of the last moment reached is synced."""
        self.synced = self.reached
        self.synced_to = self.now.end

    def expectation(self, unsynced: Unsynced) -> Expectation:
        since = self.reached if unsynced is Unsynced.KEPT else self.synced
        possible = tuple(self.moments[since:])
        synced = (
            batch
            for batch in _shared(self.moments[self.reached :])
            if batch.header.next_offset <= self.synced_to
        )
        sure = max(_shared(possible), tuple(synced), key=len)
        return Expectation(possible, sure, self.lowest_start, self.highest_start, self.is_compacted)

    def copy(self) -> Story:
        return replace(self, moments=list(self.moments))


def _shared(moments: Sequence[Moment]) -> tuple[Stored, ...]:
    """The batches that all of these moments begin with."""
    shortest = min(moments, key=lambda moment: len(moment.batches)).batches
    for length in range(len(shortest), 0, -1):
        if all(moment.batches[:length] == shortest[:length] for moment in moments):
            return shortest[:length]
    return ()
