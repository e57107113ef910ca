"""What was appended to a log and is not yet written: batches in runs, a run a segment.

Where the log rolls is decided when a batch is staged, because the producer snapshot of a new
segment must not contain what comes after its base offset.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from logquake.storage.log_config import LogConfig
from logquake.storage.segment import MAX_RELATIVE_OFFSET, Segment, StagedBatch
from logquake.storage.txn_index import AbortedTransaction


@dataclass(frozen=True, slots=True)
class Roll:
    """A new segment begins at base_offset, with this producer snapshot."""

    base_offset: int
    snapshot: bytes


@dataclass(slots=True)
class Run:
    """Batches for one segment: the active one, or a new one that roll begins.

    aborted: the transactions whose abort markers are among the batches.
    """

    roll: Roll | None
    batches: list[StagedBatch] = field(default_factory=list)
    aborted: list[AbortedTransaction] = field(default_factory=list)


class Staging:
    def __init__(self, config: LogConfig) -> None:
        self.config = config
        self.runs: list[Run] = []
        self._segment: Segment | None = None
        self._base_offset = 0
        self._size = 0
        self._staged_entries = 0

    def follow(self, active: Segment) -> None:
        """Nothing is staged; what comes next goes to the active segment."""
        self.runs = []
        self._segment = active
        self._base_offset = active.base_offset
        self._size = active.size
        self._staged_entries = 0

    def must_roll(self, size: int, last_offset: int, max_timestamp: int) -> bool:
        """Does a batch of size bytes belong into a new segment (LogSegment.shouldRoll)?

        An index counts as full one entry early for every batch that is staged and not indexed yet.
        """
        if self._size == 0:  # a gap that compaction left may be wider than a segment
            return last_offset - self._base_offset > MAX_RELATIVE_OFFSET
        return (
            self._size > self.config.segment_bytes - size
            or last_offset - self._base_offset > MAX_RELATIVE_OFFSET
            or not self._indexes_have_room()
            or self._is_old(max_timestamp)
        )

    def begin_segment(self, roll: Roll) -> None:
        self.runs.append(Run(roll))
        self._segment = None
        self._base_offset = roll.base_offset
        self._size = 0
        self._staged_entries = 0

    def add(self, batch: StagedBatch, aborted: AbortedTransaction | None = None) -> None:
        if not self.runs:
            self.runs.append(Run(None))
        self.runs[-1].batches.append(batch)
        if aborted is not None:
            self.runs[-1].aborted.append(aborted)
        self._size += len(batch.data)
        self._staged_entries += 1

    def _indexes_have_room(self) -> bool:
        wanted = self._staged_entries + 1
        if self._segment is None:
            return (wanted + 1) * 12 <= self.config.index_max_bytes
        return self._segment.offset_index.room_for(wanted) and self._segment.time_index.room_for(
            wanted
        )

    def _is_old(self, max_timestamp: int) -> bool:
        first = self._first_timestamp()
        return first >= 0 and max_timestamp - first > self.config.max_segment_ms

    def _first_timestamp(self) -> int:
        if self._segment is not None and self._segment.size:
            return self._segment.first_timestamp
        return self.runs[-1].batches[0].max_timestamp
