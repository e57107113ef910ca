"""Filling the offset map from the dirty part of a log (Cleaner.buildOffsetMap)."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from logquake.storage.cleaner.offset_map import OffsetMap
from logquake.storage.cleaner.plan import CleaningPlan
from logquake.storage.cleaner.policy import segments_between
from logquake.storage.cleaner.source import Chunk, Source, read_chunks
from logquake.storage.cleaner.transactions import CleanedTransactions
from logquake.wire.records import (
    MAX_DECOMPRESSED_BYTES,
    BatchHeader,
    check_crc,
    iterate_records,
    read_end_marker,
)


class MapBuilder:
    """``offset_map`` is of use once slices() has ended."""

    def __init__(self, plan: CleaningPlan, sources: Sequence[Source]) -> None:
        self._plan = plan
        self._sources = sources
        self._transactions = CleanedTransactions(plan.aborted)
        to_clean, bounds = plan.to_clean, plan.bounds
        self._start = to_clean.first_dirty
        self.offset_map = OffsetMap(
            bounds.dedupe_bytes,
            bounds.load_factor,
            offsets=max(0, to_clean.first_uncleanable - to_clean.first_dirty),
        )
        self.offset_map.latest_offset = self._start - 1

    def slices(self) -> Iterator[int]:
        """Work on; after every chunk the bytes read. Raises OSError, RecordError."""
        position = self._plan.map_position
        for source in self._dirty():
            is_whole = yield from self._read(source, position)
            if not is_whole:
                break
            # Compaction may have left a gap at the segment's end.
            self.offset_map.latest_offset = source.end_offset - 1
            position = 0

    def _dirty(self) -> list[Source]:
        to_clean = self._plan.to_clean
        return list(segments_between(self._sources, self._start, to_clean.first_uncleanable))

    def _read(self, source: Source, position: int) -> Generator[int, None, bool]:
        """Whether all of the source found room in the map."""
        for chunk in read_chunks(source, position, self._plan.bounds.io_bytes):
            is_full = not self._add_chunk(chunk)
            yield chunk.size
            if is_full:
                return False
        return True

    def _add_chunk(self, chunk: Chunk) -> bool:
        """Whether all of it found room in the map."""
        for position, header in chunk.batches:
            check_crc(chunk.view, position, header)
            if header.is_control:
                self._pass_control(chunk.view, position, header)
            elif not self._transactions.on_data(header) and not self._add(
                chunk.view, position, header
            ):
                return False
            if header.last_offset >= self._start:
                self.offset_map.latest_offset = header.last_offset
        return True

    def _pass_control(self, view: memoryview, position: int, header: BatchHeader) -> None:
        if header.record_count:
            marker = read_end_marker(view, position, header)
            self._transactions.on_control(header, marker.control_type if marker else None)

    def _add(self, view: memoryview, position: int, header: BatchHeader) -> bool:
        offset_map, start = self.offset_map, self._start
        for record in iterate_records(view, position, header, MAX_DECOMPRESSED_BYTES):
            if record.key is not None and record.offset >= start:
                if offset_map.is_full:
                    return False
                offset_map.put(record.key, record.offset)
        return True
