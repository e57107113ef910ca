"""What was appended to a log and is not yet written: batches in runs, a run a segment.

Where the log rolls is decided when a batch is staged (segments/outlook.py), because the producer
snapshot of a new segment must not contain what comes after its base offset.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from logquake.storage.log_config import LogConfig
from logquake.storage.segments.outlook import SegmentOutlook, roll_jitter_ms
from logquake.storage.segments.segment import Segment, StagedBatch
from logquake.storage.segments.txn_index import AbortedTransaction


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
    def __init__(self, config: LogConfig, partition: str) -> None:
        self.config = config
        self.runs: list[Run] = []
        self._partition = partition
        self._outlook = SegmentOutlook(0, config, 0)

    def follow(self, active: Segment) -> None:
        """Nothing is staged; what comes next goes to the active segment."""
        self.runs = []
        self._outlook = SegmentOutlook.of(active, self._jitter_ms(active.base_offset))

    def clear(self) -> None:
        """What was staged is written, as foreseen."""
        self.runs = []

    def must_roll(self, size: int, last_offset: int, max_timestamp: int, now_ms: int) -> bool:
        """Does a batch of size bytes belong into a new segment?"""
        return self._outlook.must_roll(self.config, size, last_offset, max_timestamp, now_ms)

    def begin_segment(self, roll: Roll, now_ms: int) -> None:
        self.runs.append(Run(roll))
        jitter_ms = self._jitter_ms(roll.base_offset)
        self._outlook = SegmentOutlook(roll.base_offset, self.config, jitter_ms, now_ms)

    def add(self, batch: StagedBatch, aborted: AbortedTransaction | None = None) -> None:
        if not self.runs:
            self.runs.append(Run(None))
        self.runs[-1].batches.append(batch)
        if aborted is not None:
            self.runs[-1].aborted.append(aborted)
        self._outlook.add(len(batch.data), batch.max_timestamp)

    def _jitter_ms(self, base_offset: int) -> int:
        return roll_jitter_ms(self._partition, base_offset, self.config)
