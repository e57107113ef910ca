"""When an active segment makes way for the next (Kafka's LogSegment.shouldRoll, UnifiedLog.roll).

The question is asked while batches are staged, so it is about the segment as it will be once they
are written. The indexes' entries are foreseen too, as an index that is full rolls its segment.
"""

from __future__ import annotations

from zlib import crc32

from logquake.storage.log_config import LogConfig
from logquake.storage.segments.index_file import OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES
from logquake.storage.segments.segment import MAX_RELATIVE_OFFSET, Segment
from logquake.wire.sentinels import NO_TIMESTAMP

_UNKNOWN = -1


class SegmentOutlook:
    """The active segment with what is staged for it, or an empty one that begins at base_offset.

    config is the segment's own: the settings of indexes hold from its beginning to its end.
    ``waits_since_ms`` stands for the time at which Kafka made the segment object, from which a
    segment waits whose first batch has no timestamp: that of the roll, or of the first append
    after the log was opened.
    """

    __slots__ = (
        "_bytes_since_entry",
        "_config",
        "_first_timestamp",
        "_indexed_timestamp",
        "_jitter_ms",
        "_max_timestamp",
        "_offset_entries",
        "_segment",
        "_time_entries",
        "_waits_since_ms",
        "base_offset",
        "size",
    )

    def __init__(
        self,
        base_offset: int,
        config: LogConfig,
        jitter_ms: int,
        waits_since_ms: int = _UNKNOWN,
    ) -> None:
        self.base_offset = base_offset
        self.size = 0
        self._config = config
        self._segment: Segment | None = None
        self._jitter_ms = jitter_ms
        self._bytes_since_entry = 0
        self._offset_entries = 0
        self._time_entries = 0
        self._max_timestamp = self._indexed_timestamp = NO_TIMESTAMP
        self._first_timestamp: int | None = None
        self._waits_since_ms = waits_since_ms

    @classmethod
    def of(cls, segment: Segment, jitter_ms: int) -> SegmentOutlook:
        outlook = cls(segment.base_offset, segment.config, jitter_ms)
        outlook._segment = segment
        outlook.size = segment.size
        outlook._bytes_since_entry = segment.indexes.bytes_since_entry
        outlook._offset_entries = len(segment.indexes.offsets)
        outlook._time_entries = len(segment.indexes.times)
        outlook._max_timestamp = segment.indexes.max_timestamp
        outlook._indexed_timestamp = segment.indexes.times.last_entry()[0]
        return outlook

    def must_roll(
        self, config: LogConfig, size: int, last_offset: int, timestamp: int, now_ms: int
    ) -> bool:
        """Does a batch of size bytes, with this largest timestamp, belong into a new segment?

        An empty segment takes every batch that its offsets reach. now_ms is wall time.
        """
        if self._waits_since_ms == _UNKNOWN:
            self._waits_since_ms = now_ms
        if last_offset - self.base_offset > MAX_RELATIVE_OFFSET:
            return True
        return self.size > 0 and (
            self.size > config.segment_bytes - size
            or self._has_full_index()
            or self._waited_ms(timestamp, now_ms) > config.max_segment_ms - self._jitter_ms
        )

    def add(self, size: int, timestamp: int) -> None:
        """Take in a batch as Segment.append() will."""
        if self.size == 0:
            self._first_timestamp = timestamp
        self._max_timestamp = max(self._max_timestamp, timestamp)
        if self._bytes_since_entry > self._config.index_interval_bytes:
            self._offset_entries += 1
            if self._max_timestamp > self._indexed_timestamp:
                self._indexed_timestamp = self._max_timestamp
                self._time_entries += 1
            self._bytes_since_entry = 0
        self._bytes_since_entry += size
        self.size += size

    def _has_full_index(self) -> bool:
        max_bytes = self._config.index_max_bytes
        # One slot of the time index stays free for the entry that sealing adds.
        return (
            self._offset_entries >= max_bytes // OFFSET_ENTRY_BYTES
            or self._time_entries >= max_bytes // TIME_ENTRY_BYTES - 1
        )

    def _waited_ms(self, timestamp: int, now_ms: int) -> int:
        first = self._first_timestamp
        if first is None:
            first = self._segment.first_timestamp if self._segment else NO_TIMESTAMP
            self._first_timestamp = first
        if first >= 0:
            return timestamp - first
        return now_ms - self._waits_since_ms


def roll_jitter_ms(partition: str, base_offset: int, config: LogConfig) -> int:
    """How much earlier than segment.ms a segment rolls, at most segment.jitter.ms.

    Kafka draws it at random. Its purpose is that logs do not all roll at once: for that it is
    enough to depend on which segment of which log this is, and a run can be repeated.
    """
    bound_ms = min(config.segment_jitter_ms, config.segment_ms)
    return crc32(f"{partition}/{base_offset}".encode()) % bound_ms if bound_ms else 0
