"""The .index and .timeindex of one segment, and its largest timestamp, which neither knows alone.

They are read when first needed and built anew when they cannot be right: the .log file decides.
"""

from __future__ import annotations

from logquake.storage.segments.batch_walk import SCAN_CHUNK_BYTES
from logquake.storage.segments.index_file import DamagedIndexError, OffsetIndex, TimeIndex
from logquake.storage.segments.index_proof import points_at_batch
from logquake.storage.segments.log_file import LogFile
from logquake.wire.sentinels import NO_TIMESTAMP


class SparseIndexes:
    """``bytes_since_entry`` is the size of what lies after the latest entry; ``max_timestamp`` that
    of the batches noted, which is all of them once largest_timestamp() was asked.

    Raises OSError, and DamagedBatchError where the log must be read for an answer and cannot be.
    """

    def __init__(
        self,
        offsets: OffsetIndex,
        times: TimeIndex,
        log: LogFile,
        base_offset: int,
        interval_bytes: int,
    ) -> None:
        """interval_bytes is index.interval.bytes."""
        self.offsets = offsets
        self.times = times
        self.bytes_since_entry = 0
        self.max_timestamp = NO_TIMESTAMP
        self._offset_of_max_timestamp = base_offset
        self._log = log
        self._base_offset = base_offset
        self._interval_bytes = interval_bytes
        self._is_loaded = False
        self._is_proven = False  # what it says needs no second look
        self._has_max_timestamp = False

    # Entries

    def begin(self) -> None:
        """Of an empty log there is nothing to be read."""
        self._is_loaded = self._is_proven = self._has_max_timestamp = True

    def reset(self) -> None:
        """Forget everything; note() follows for every batch of the log."""
        self.offsets.reset()
        self.times.reset()
        self.bytes_since_entry = 0
        self.max_timestamp, self._offset_of_max_timestamp = NO_TIMESTAMP, self._base_offset
        self.begin()

    def note(self, last_offset: int, max_timestamp: int, position: int, size: int) -> None:
        """Take in the batch that follows the last one noted."""
        if max_timestamp > self.max_timestamp:
            self.max_timestamp, self._offset_of_max_timestamp = max_timestamp, last_offset
        if self.bytes_since_entry > self._interval_bytes:
            self.offsets.append(last_offset, position)
            self.times.append_if_newer(self.max_timestamp, self._offset_of_max_timestamp)
            self.bytes_since_entry = 0
        self.bytes_since_entry += size

    def preallocate(self) -> None:
        """Take the zero-filled shape of a segment that is appended to."""
        self.largest_timestamp()
        self.offsets.preallocate()
        self.times.preallocate()
        self._is_proven = True

    def finish(self) -> None:
        """The segment is appended to no more: the largest timestamp goes in, the zeros go.

        Should it be appended to again, after a start, the next entry counts from here.
        """
        self.largest_timestamp()
        self.times.append_if_newer(self.max_timestamp, self._offset_of_max_timestamp)
        self.offsets.trim()
        self.times.trim()
        self.bytes_since_entry = 0

    def truncate_to(self, position: int, next_offset: int) -> None:
        """The log was cut at position, where the batch that holds next_offset began."""
        self.offsets.truncate_to(position)
        self.times.truncate_to(next_offset)
        self.bytes_since_entry = 0
        self._find_max_timestamp()

    # Answers

    def load(self) -> None:
        """Read the files unless they are in memory; build them anew when they cannot be right."""
        if self._is_loaded:
            return
        try:
            self.offsets.load()
            self.times.load()
            if self.offsets.last_position() > self._log.size:
                raise DamagedIndexError(f"an index of {self._log.path} points past its end")
        except (DamagedIndexError, FileNotFoundError):
            self._rebuild()
        self._is_loaded = True

    def largest_timestamp(self) -> int:
        """Of any batch in the log, or NO_TIMESTAMP."""
        self.load()
        if not self._has_max_timestamp:
            self._find_max_timestamp()
        return self.max_timestamp

    def position_of(self, offset: int) -> int:
        """A batch boundary at or before the batch that holds offset."""
        self.load()
        position = self.offsets.lookup(offset)
        if self._is_proven or position == 0:
            return position
        reached = range(self._base_offset, offset + 1)
        if not points_at_batch(self._log.handle, self._log.size, position, reached):
            self._rebuild()
            position = self.offsets.lookup(offset)
        return position

    def last_position(self) -> int:
        """A batch boundary near the end."""
        self.load()
        return self.offsets.last_position()

    def first_offset_at(self, position: int) -> int | None:
        """The offset of the first entry at or after position."""
        self.load()
        return self.offsets.first_offset_at(position)

    def offset_before(self, timestamp_ms: int) -> int:
        """An offset at or before that of the first record with this timestamp or a later one."""
        self.load()
        return self.times.lookup(timestamp_ms)

    def _rebuild(self) -> None:
        self.reset()
        self._is_loaded = False  # should reading fail half-way
        for position, header in self._log.headers(0, SCAN_CHUNK_BYTES):
            self.note(header.last_offset, header.max_timestamp, position, header.size)
        self._is_loaded = True
        self.finish()

    def _find_max_timestamp(self) -> None:
        """From the time index and the batches after its last entry (readLargestTimestamp)."""
        timestamp, offset = self.times.last_entry()
        for _, header in self._log.headers(self.position_of(offset)):
            if header.max_timestamp > timestamp:
                timestamp, offset = header.max_timestamp, header.last_offset
        self.max_timestamp, self._offset_of_max_timestamp = timestamp, offset
        self._has_max_timestamp = True
