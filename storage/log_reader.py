"""Reading one log: by offset, exact to the batch, and by time."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.storage.batch_walk import DamagedBatchError
from logquake.storage.errors import StorageError
from logquake.storage.log_slice import EMPTY_SLICE, LogSlice
from logquake.storage.recent_batches import BatchPlace
from logquake.storage.segment import Segment
from logquake.storage.segments import Segments
from logquake.wire.records import BatchHeader, ProduceLimits, Record, iterate_records

_MAX_DECOMPRESSED_BYTES = ProduceLimits().max_decompressed_bytes


class LogReader:
    """Reads what is written; its caller checks offsets against the log's bounds."""

    def __init__(self, segments: Segments, directory: str) -> None:
        self._segments = segments
        self._directory = directory

    def read(
        self, offset: int, max_bytes: int, *, limit: int, end_offset: int, min_one_batch: bool
    ) -> LogSlice:
        """From the batch that holds offset, up to limit (exclusive) and within one segment."""
        try:
            found = self._locate(offset)
            if found is None or found[1].last_offset >= limit:
                return EMPTY_SLICE
            segment, first = found
            allowed = max(max_bytes, first.size) if min_one_batch else max_bytes
            if allowed < first.size:
                return EMPTY_SLICE
            end = self._end_position(segment, limit, end_offset, first.position + allowed)
        except (OSError, DamagedBatchError) as error:
            raise StorageError(self._directory, f"reading offset {offset}: {error}") from error
        size = min(allowed, end - first.position)
        return LogSlice(segment.file, first.position, size, first.base_offset)

    def headers(self, from_offset: int) -> Iterator[BatchHeader]:
        """Headers of the batches that end at from_offset or later."""
        for segment in self._segments.from_offset(from_offset):
            for _, header in segment.headers(from_offset):
                yield header

    def first_record_at(self, timestamp_ms: int, start_offset: int) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record at or after both bounds (KIP-79)."""
        for segment in self._segments:
            if segment.largest_timestamp() < timestamp_ms:
                continue
            for position, header in segment.headers_from_time(timestamp_ms, start_offset):
                for record in _records(segment, position, header):
                    if record.timestamp_ms >= timestamp_ms and record.offset >= start_offset:
                        return record.timestamp_ms, record.offset
            # Kafka looks no further than the first segment that could hold the time.
            return None
        return None

    def record_with_max_timestamp(self) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record with the log's largest timestamp (KIP-734)."""
        segment = max(self._segments, key=Segment.largest_timestamp)
        timestamp = segment.largest_timestamp()
        for position, header in segment.headers(segment.base_offset):
            if header.max_timestamp == timestamp:
                for record in _records(segment, position, header):
                    if record.timestamp_ms == timestamp:
                        return timestamp, record.offset
        return None

    def _locate(self, offset: int) -> tuple[Segment, BatchPlace] | None:
        for segment in self._segments.from_offset(offset):
            place = segment.find(offset)
            if place is not None:
                return segment, place
        return None

    def _end_position(self, segment: Segment, limit: int, end_offset: int, enough: int) -> int:
        """Where the first batch that limit excludes begins; not searched for beyond enough."""
        following = self._segments.after(segment)
        if limit >= (end_offset if following is None else following.base_offset):
            return segment.size
        if segment.index_position(limit) >= enough:
            return enough
        excluded = segment.find(limit)
        return segment.size if excluded is None else excluded.position


def _records(segment: Segment, position: int, header: BatchHeader) -> Iterator[Record]:
    batch = memoryview(segment.file.pread(header.size, position))
    return iterate_records(batch, 0, header, _MAX_DECOMPRESSED_BYTES)
