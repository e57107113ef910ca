"""Reading one log: by offset, exact to the batch, and by time.

Records that cannot be right (a flipped bit in an old segment) are an error of that read alone, as
in Kafka: the disk works, and whatever lies around them can be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from logquake.storage.errors import OffsetOutOfRange, StorageError
from logquake.storage.log.slice import EMPTY_SLICE, LogSlice
from logquake.storage.log.state import LogState
from logquake.storage.segments.batch_walk import DamagedBatchError
from logquake.storage.segments.recent_batches import BatchPlace
from logquake.storage.segments.segment import Segment
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import MAX_DECOMPRESSED_BYTES, BatchHeader, Record, iterate_records


class LogReader:
    """Reads what is written."""

    def __init__(self, state: LogState) -> None:
        self._state = state
        self._segments = state.files.segments

    def read(self, offset: int, max_bytes: int, *, up_to: int, min_one_batch: bool) -> LogSlice:
        """As Log.read(): from the batch that holds offset, within one segment."""
        state = self._state
        end_offset = state.written_end_offset
        if state.write_failed:
            raise StorageError(state.directory, "a write failed and could not be undone")
        if not state.start_offset <= offset <= state.appender.end_offset:
            raise OffsetOutOfRange(offset, state.start_offset, end_offset)
        limit = min(up_to, end_offset)
        if offset >= limit:
            return EMPTY_SLICE
        try:
            return self._slice(offset, max_bytes, limit, min_one_batch)
        except DamagedBatchError as error:
            raise _corrupt(state.directory, f"reading offset {offset}", error) from error
        except OSError as error:
            raise StorageError(state.directory, f"reading offset {offset}: {error}") from error

    def _slice(self, offset: int, max_bytes: int, limit: int, min_one_batch: bool) -> LogSlice:
        found = self._locate(offset)
        if found is None:
            return EMPTY_SLICE
        segment, first = found
        if first.last_offset >= limit:
            self._check_within(segment, first)
            return EMPTY_SLICE
        allowed = max(max_bytes, first.size) if min_one_batch else max_bytes
        if allowed < first.size:
            return EMPTY_SLICE
        end = self._end_position(segment, limit, first.position + allowed)
        size = min(allowed, end - first.position)
        return LogSlice(segment.file, first.position, size, first.base_offset)

    def headers(self, from_offset: int) -> Iterator[BatchHeader]:
        """Headers of the batches that end at from_offset or later."""
        for segment in self._segments.from_offset(from_offset):
            for _, header in segment.headers(from_offset):
                yield header

    def segment_bounds(self, now_ms: int) -> list[tuple[int, int]]:
        """(offset, time of the last write) of where each segment begins, and of the log's end."""
        state = self._state
        bounds = [
            (
                max(segment.base_offset, state.start_offset),
                state.disk.modified_ms(segment.log_path),
            )
            for segment in self._segments
        ]
        if self._segments.active.size:
            bounds.append((state.written_end_offset, now_ms))
        return bounds

    def first_record_at(self, timestamp_ms: int) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record at or after timestamp_ms (KIP-79)."""
        with self._looking_up(f"time {timestamp_ms}"):
            return self._first_record_at(timestamp_ms)

    def record_with_max_timestamp(self) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record with the log's largest timestamp (KIP-734)."""
        with self._looking_up("the largest time"):
            return self._record_with_max_timestamp()

    def _first_record_at(self, timestamp_ms: int) -> tuple[int, int] | None:
        start_offset = self._state.start_offset
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

    def _record_with_max_timestamp(self) -> tuple[int, int] | None:
        segment = max(self._segments, key=Segment.largest_timestamp)
        timestamp = segment.largest_timestamp()
        for position, header in segment.headers(segment.base_offset):
            if header.max_timestamp == timestamp:
                for record in _records(segment, position, header):
                    if record.timestamp_ms == timestamp:
                        return timestamp, record.offset
        return None

    @contextmanager
    def _looking_up(self, what: str) -> Iterator[None]:
        try:
            yield
        except (DamagedBatchError, RecordError) as error:
            raise _corrupt(self._state.directory, f"looking up {what}", error) from error

    def _locate(self, offset: int) -> tuple[Segment, BatchPlace] | None:
        for segment in self._segments.from_offset(offset):
            place = segment.find(offset)
            if place is not None:
                return segment, place
        return None

    def _check_within(self, segment: Segment, batch: BatchPlace) -> None:
        """Where the offsets of a batch are damaged, whoever wants them would wait for ever."""
        end_offset = self._end_offset(segment)
        if batch.last_offset >= end_offset:
            why = f"offset {batch.last_offset} in a segment that ends at {end_offset}"
            raise DamagedBatchError(batch.position, why)

    def _end_offset(self, segment: Segment) -> int:
        following = self._segments.after(segment)
        return self._state.written_end_offset if following is None else following.base_offset

    def _end_position(self, segment: Segment, limit: int, enough: int) -> int:
        """Where the first batch that limit excludes begins; not searched for beyond enough."""
        if limit >= self._end_offset(segment):
            return segment.size
        if segment.indexes.position_of(limit) >= enough:
            return enough
        excluded = segment.find(limit)
        return segment.size if excluded is None else excluded.position


def _corrupt(directory: str, doing: str, error: Exception) -> RecordError:
    return RecordError(ErrorCode.CORRUPT_MESSAGE, f"{directory}: {doing}: {error}")


def _records(segment: Segment, position: int, header: BatchHeader) -> Iterator[Record]:
    batch = memoryview(segment.file.pread(header.size, position))
    return iterate_records(batch, 0, header, MAX_DECOMPRESSED_BYTES)
