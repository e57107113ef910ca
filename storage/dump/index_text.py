"""The .index and .timeindex files as text, every entry held against the log beside it.

While a segment is active zeros fill its indexes. Kafka's tool takes the first of them for an entry;
here it is shown too, but not called a mismatch when nothing precedes it.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from logquake.storage.disk.seam import Disk, File
from logquake.storage.dump.damages import Damages
from logquake.storage.dump.entries import FoundBatch, UnreadableEntryError, read_batches
from logquake.storage.dump.options import DumpOptions
from logquake.storage.file_names import LOG_SUFFIX, OFFSET_INDEX_SUFFIX
from logquake.wire.errors import RecordError
from logquake.wire.records import iterate_records
from logquake.wire.sentinels import NO_TIMESTAMP

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
_NOT_IN_LOG = -1


class Neighbours(NamedTuple):
    """The files of one segment, by the path of one of them without its suffix."""

    disk: Disk
    stem: str
    base_offset: int

    def log(self) -> File:
        return self.disk.open(self.stem + LOG_SUFFIX)

    def read(self, suffix: str) -> bytes:
        return self.disk.read(self.stem + suffix)


class _IndexText:
    """``path`` is absolute, for damages; ``shown_as`` is the way the user wrote it."""

    def __init__(
        self,
        path: str,
        shown_as: str,
        segment: Neighbours,
        options: DumpOptions,
        damages: Damages,
    ) -> None:
        self._path = path
        self._shown_as = shown_as
        self._segment = segment
        self._options = options
        self._damages = damages


class OffsetIndexText(_IndexText):
    def lines(self, content: bytes) -> Iterator[str]:
        size = _OFFSET_ENTRY.size
        whole = content[: len(content) - len(content) % size]
        if not whole:
            yield f"{self._shown_as} is empty."
        elif self._options.index_sanity_check:
            relative, _ = _OFFSET_ENTRY.unpack_from(whole, len(whole) - size)
            if relative < 0:
                self._damages.add(f"{self._path}: the last offset is below the segment's first")
            elif len(whole) != len(content):
                self._damages.add(f"{self._path}: {len(content)} bytes are no multiple of {size}")
            else:
                yield f"{self._shown_as} passed sanity check."
        else:
            yield from self._entries(whole)

    def _entries(self, content: bytes) -> Iterator[str]:
        if not any(content):
            yield from self._fill()
            return
        log = self._segment.log()
        for index, (relative, position) in enumerate(_OFFSET_ENTRY.iter_unpack(content)):
            if relative == 0 and index > 0:
                return
            offset = self._segment.base_offset + relative
            self._compare(log, offset, position)
            if not self._options.verify_index_only:
                yield f"offset: {offset} position: {position}"

    def _fill(self) -> Iterator[str]:
        if not self._options.verify_index_only:
            yield f"offset: {self._segment.base_offset} position: 0"

    def _compare(self, log: File, offset: int, position: int) -> None:
        end = min(log.size(), position + self._options.max_message_size)
        try:
            batch = next(read_batches(log, position, end), None)
        except UnreadableEntryError as error:
            self._damages.add(f"{self._path}: offset {offset}: in the log, {error}")
            return
        if batch is None:
            self._damages.add(f"{self._path}: offset {offset}: no whole batch at byte {position}")
        elif batch.header.last_offset != offset:
            self._damages.index_mismatch(self._path, offset, batch.header.last_offset)


class TimeIndexText(_IndexText):
    def lines(self, content: bytes) -> Iterator[str]:
        size = _TIME_ENTRY.size
        whole = content[: len(content) - len(content) % size]
        if not self._options.index_sanity_check:
            yield from self._entries(whole)
            return
        damage = _insanity(content, whole)
        if damage is None:
            yield f"{self._shown_as} passed sanity check."
        else:
            self._damages.add(f"{self._path}: {damage}")

    def _entries(self, content: bytes) -> Iterator[str]:
        if content and not any(content):
            yield from self._fill()
            return
        log, positions = self._segment.log(), _Positions(self._segment)
        previous = NO_TIMESTAMP
        for index, (timestamp, relative) in enumerate(_TIME_ENTRY.iter_unpack(content)):
            if relative == 0 and index > 0:
                return
            offset = self._segment.base_offset + relative
            try:
                batch = _holding(log, positions.before(relative), offset)
                self._compare(batch, offset, timestamp, previous)
            except (UnreadableEntryError, RecordError) as error:
                self._damages.add(f"{self._path}: offset {offset}: in the log, {error}")
            if not self._options.verify_index_only:
                yield f"timestamp: {timestamp} offset: {offset}"
            previous = timestamp

    def _fill(self) -> Iterator[str]:
        if not self._options.verify_index_only:
            yield f"timestamp: 0 offset: {self._segment.base_offset}"

    def _compare(
        self, batch: FoundBatch | None, offset: int, timestamp: int, previous: int
    ) -> None:
        found = _NOT_IN_LOG if batch is None else batch.header.last_offset
        if batch is None or found != offset:
            self._damages.offset_not_found(self._path, offset, found)
            return
        limit = self._options.max_decompressed_bytes
        records = iterate_records(batch.content, 0, batch.header, limit)
        largest = max((record.timestamp_ms for record in records), default=NO_TIMESTAMP)
        if largest != timestamp:
            self._damages.time_mismatch(self._path, timestamp, largest)
        if previous >= timestamp:
            self._damages.time_out_of_order(self._path, timestamp, previous)


class _Positions:
    """The segment's offset index, to begin searches near their end."""

    def __init__(self, segment: Neighbours) -> None:
        content = segment.read(OFFSET_INDEX_SUFFIX)
        whole = content[: len(content) - len(content) % _OFFSET_ENTRY.size]
        self._entries: list[tuple[int, int]] = []
        for relative, position in _OFFSET_ENTRY.iter_unpack(whole):
            if relative == 0 and self._entries:
                break
            self._entries.append((relative, position))

    def before(self, relative: int) -> int:
        slot = bisect_right(self._entries, relative, key=lambda entry: entry[0]) - 1
        return self._entries[slot][1] if slot >= 0 else 0


def _holding(log: File, position: int, offset: int) -> FoundBatch | None:
    """The first batch from position on that ends at offset or later."""
    for batch in read_batches(log, position, log.size()):
        if batch.header.last_offset >= offset:
            return batch
    return None


def _insanity(content: bytes, whole: bytes) -> str | None:
    """What a broker would rebuild the time index for; None: nothing."""
    if whole:
        first, _ = _TIME_ENTRY.unpack_from(whole)
        last, relative = _TIME_ENTRY.unpack_from(whole, len(whole) - _TIME_ENTRY.size)
        if last < first:
            return f"the last timestamp, {last}, is below the first, {first}"
        if relative < 0:
            return "the last offset is below the segment's first"
    if len(whole) != len(content):
        return f"{len(content)} bytes are no multiple of {_TIME_ENTRY.size}"
    return None
