"""Taking old segments out of a log (UnifiedLog.deleteOldSegments).

Caveat, as in Kafka: the files are renamed oldest first, and nothing waits for the platter. That a
loss of power leaves no gap is up to the file system's journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from logquake.storage.errors import disk_faults
from logquake.storage.log.commit import LogCommit
from logquake.storage.log.deletable_segments import (
    Predicate,
    before_start,
    deletable,
    expired,
    oversized,
)
from logquake.storage.log.deleted_files import DeletedFiles
from logquake.storage.log.start import LogStart
from logquake.storage.log.state import LogState
from logquake.storage.segments.batch_walk import DamagedBatchError
from logquake.storage.segments.segment import Segment
from logquake.wire.sentinels import NO_TIMESTAMP


@dataclass(frozen=True, slots=True)
class Retired:
    """Segments that left the log for one reason; their files are to be removed later."""

    why: str
    base_offsets: tuple[int, ...]
    size: int
    files: DeletedFiles


class LogRetention:
    def __init__(self, state: LogState, start: LogStart, commit: LogCommit) -> None:
        self._state = state
        self._start = start
        self._commit = commit

    def delete_old(self, now_ms: int, high_watermark: int) -> list[Retired]:
        """Delete by log start and, if cleanup.policy says so, by size and by age, in this order.

        now_ms is wall time. Where every segment is to go, the log rolls first. Raises StorageError.
        """
        with disk_faults(self._state.directory):
            found = (
                self._delete(why, predicate, high_watermark)
                for why, predicate in self._reasons(now_ms)
            )
            return [retired for retired in found if retired is not None]

    def _reasons(self, now_ms: int) -> Iterator[tuple[str, Predicate]]:
        state = self._state
        config = state.config
        start_offset = state.start_offset
        yield f"the log starts at {start_offset}", before_start(start_offset)
        if not config.deleted:
            return
        size = state.files.segments.size
        if 0 <= config.retention_bytes <= size:
            why = f"the log has {size} bytes, retention.bytes is {config.retention_bytes}"
            yield why, oversized(size, config.retention_bytes)
        if config.retention_ms >= 0:
            why = f"their newest record is older than retention.ms, {config.retention_ms}"
            predicate = expired(now_ms, config.retention_ms, self._newest_record_ms)
            yield why, predicate

    def _newest_record_ms(self, segment: Segment) -> int:
        """Where no record has a time, or they are damaged, that of the last write stands for it."""
        newest = NO_TIMESTAMP
        with suppress(DamagedBatchError):
            newest = segment.largest_timestamp()
        return newest if newest >= 0 else self._state.disk.modified_ms(segment.log_path)

    def _delete(self, why: str, predicate: Predicate, high_watermark: int) -> Retired | None:
        state = self._state
        segments = state.files.segments
        going = deletable(
            segments.current.segments, state.written_end_offset, high_watermark, predicate
        )
        if going and going[-1] is segments.active:
            if state.appender.runs:  # about to be written to it
                going.pop()
            else:
                self._commit.roll()
        return self._take_out(why, going, high_watermark) if going else None

    def _take_out(self, why: str, going: Sequence[Segment], high_watermark: int) -> Retired:
        state = self._state
        segments = state.files.segments
        following = segments.after(going[-1])
        if following is not None:
            self._start.raise_to(following.base_offset, high_watermark)
        segments.replace(going, ())
        paths = []
        for segment in going:
            paths += segment.set_aside()
            paths += state.files.snapshots.set_aside(segment.base_offset)
            segment.release()
        return Retired(
            why,
            tuple(segment.base_offset for segment in going),
            sum(segment.size for segment in going),
            DeletedFiles(state.disk, tuple(paths)),
        )
