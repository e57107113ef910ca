"""Scanning what a crash may have torn (Kafka's LogLoader.recoverLog and LogSegment.recover).

Stricter than Kafka where a loss of power can
leave intact batches that do not belong together: a batch whose leader epoch is below an earlier
one's, or whose segment does not continue the one before it, ends the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.storage.log.leader_epochs import LeaderEpochs
from logquake.storage.segments.batch_walk import DamagedBatchError, walk_verified
from logquake.storage.segments.segment import MAX_RELATIVE_OFFSET, Segment
from logquake.storage.segments.segments import Segments
from logquake.wire.records import BatchHeader
from logquake.wire.sentinels import NO_LEADER_EPOCH

_TELL_EVERY_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What opening the log found: bytes scanned, bytes cut off the end, and why (None: intact)."""

    scanned_bytes: int = 0
    truncated_bytes: int = 0
    why: str | None = None

    def with_all_dropped(self, size: int, end_offset: int, start_offset: int) -> RecoveryReport:
        """The same, and then the whole log went, which was thought to begin after its end."""
        why = f"the log ended at {end_offset}, before its checkpointed start {start_offset}"
        return RecoveryReport(self.scanned_bytes, self.truncated_bytes + size, why)


class Recovery:
    """Scan every segment from the recovery point's on; cut at the first thing that is wrong."""

    def __init__(
        self,
        segments: Segments,
        epochs: LeaderEpochs,
        scanned: Callable[[int], None],
        *,
        gaps_allowed: bool,
    ) -> None:
        self._segments = segments
        self._epochs = epochs
        self._scanned = scanned
        self._gaps_allowed = gaps_allowed
        self._latest_epoch = NO_LEADER_EPOCH
        self._next_offset = 0
        self._scanned_bytes = 0
        self._untold_bytes = 0

    def run(self, recovery_point: int) -> RecoveryReport:
        report = self._scan_from(recovery_point)
        self._tell()
        return report

    def _scan_from(self, recovery_point: int) -> RecoveryReport:
        previous: Segment | None = None
        for segment in self._segments.unsynced(recovery_point):
            if previous is not None and self._is_misplaced(segment, previous):
                why = f"segment {segment.base_offset} follows offset {self._next_offset - 1}"
                return self._drop_after(previous, 0, why)
            damage = self._scan(segment)
            if damage is not None:
                truncated_bytes = segment.size - damage.position
                segment.truncate_at(damage.position, self._next_offset)
                why = f"segment {segment.base_offset} {damage}"
                return self._drop_after(segment, truncated_bytes, why)
            previous = segment
        return RecoveryReport(self._scanned_bytes)

    def _is_misplaced(self, segment: Segment, previous: Segment) -> bool:
        # So far after the one before it that no loss can have made the gap.
        is_far = segment.base_offset - previous.base_offset > MAX_RELATIVE_OFFSET + 1
        if self._gaps_allowed or is_far:
            return segment.base_offset < self._next_offset
        return segment.base_offset != self._next_offset

    def _scan(self, segment: Segment) -> DamagedBatchError | None:
        """Index the intact batches anew; what ends them early, or None."""
        segment.index_anew()
        self._next_offset = segment.base_offset
        try:
            for position, header in walk_verified(segment.file, 0, segment.size):
                self._check_order(segment, position, header)
                segment.note_scanned(position, header)
                self._next_offset = header.next_offset
                self._count(header.size)
        except DamagedBatchError as damage:
            return damage
        finally:
            segment.seal()
        return None

    def _count(self, size: int) -> None:
        self._scanned_bytes += size
        self._untold_bytes += size
        if self._untold_bytes >= _TELL_EVERY_BYTES:
            self._tell()

    def _tell(self) -> None:
        untold, self._untold_bytes = self._untold_bytes, 0
        self._scanned(untold)

    def _check_order(self, segment: Segment, position: int, header: BatchHeader) -> None:
        if header.base_offset < self._next_offset:
            raise DamagedBatchError(
                position, f"offset {header.base_offset} follows {self._next_offset - 1}"
            )
        if header.last_offset - segment.base_offset > MAX_RELATIVE_OFFSET:
            raise DamagedBatchError(
                position, f"offset {header.last_offset} is too far from the base"
            )
        if header.is_legacy:
            return  # older than leader epochs
        epoch = header.partition_leader_epoch
        if epoch < self._latest_epoch:
            raise DamagedBatchError(position, f"leader epoch {epoch} follows {self._latest_epoch}")
        if epoch > self._latest_epoch:
            self._latest_epoch = epoch
            if self._epochs.latest is None or epoch > self._epochs.latest:
                self._epochs.assign(epoch, header.base_offset)

    def _drop_after(self, last: Segment, truncated_bytes: int, why: str) -> RecoveryReport:
        size_before = self._segments.size
        self._segments.delete_after(last.base_offset)
        truncated_bytes += size_before - self._segments.size
        return RecoveryReport(self._scanned_bytes, truncated_bytes, why)
