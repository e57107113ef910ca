"""One segment: a .log file with its indexes (Kafka's LogSegment).

A segment's size counts what was written whole; bytes after it are what a failed write left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Buffer, Disk, File
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.batch_walk import SCAN_CHUNK_BYTES, DamagedBatchError, walk_headers
from logquake.storage.segments.index_file import (
    NO_TIMESTAMP,
    DamagedIndexError,
    OffsetIndex,
    TimeIndex,
)
from logquake.storage.segments.index_proof import points_at_batch
from logquake.storage.segments.open_files import OpenFiles
from logquake.storage.segments.recent_batches import BatchPlace, RecentBatches
from logquake.storage.segments.txn_index import AbortedTransaction, TransactionIndex
from logquake.wire.records import BatchHeader

MAX_RELATIVE_OFFSET = 2**31 - 1


class StagedBatch(NamedTuple):
    """A batch ready to be written: its final bytes and what the indexes need of it."""

    data: Buffer
    base_offset: int
    last_offset: int
    max_timestamp: int


class Segment:
    def __init__(
        self, disk: Disk, directory: str, base_offset: int, config: LogConfig, mark: str = ""
    ) -> None:
        """mark ends the names of the files while they are not yet, or no longer, part of the log.

        bytes_since_entry is the size of what lies after the latest index entry. was_used: the
        file was, since OpenFiles last looked.
        """
        self.base_offset = base_offset
        self.size = 0
        self.max_timestamp = NO_TIMESTAMP
        self._offset_of_max_timestamp = base_offset
        self._disk = disk
        self._directory = directory
        self.config = config
        self._mark = mark
        self._recent = RecentBatches()
        self.bytes_since_entry = 0
        self._file: File | None = None
        self._open_files: OpenFiles | None = None
        self.was_used = False
        self._first_timestamp: int | None = None
        self._indexes_loaded = False
        self._index_is_proven = False
        self._max_timestamp_found = False
        max_bytes = config.index_max_bytes
        self.offset_index = OffsetIndex(
            disk, self._path(names.OFFSET_INDEX_SUFFIX), base_offset, max_bytes
        )
        self.time_index = TimeIndex(
            disk, self._path(names.TIME_INDEX_SUFFIX), base_offset, max_bytes
        )
        self.txn_index = TransactionIndex(
            disk, self._path(names.TRANSACTION_INDEX_SUFFIX), base_offset
        )

    @classmethod
    def create(cls, disk: Disk, directory: str, base_offset: int, config: LogConfig) -> Segment:
        """An empty segment, active; leftovers under its names are removed."""
        segment = cls.create_marked(disk, directory, base_offset, config, "")
        segment.activate()
        return segment

    @classmethod
    def create_marked(
        cls, disk: Disk, directory: str, base_offset: int, config: LogConfig, mark: str
    ) -> Segment:
        """An empty segment beside the log, to be filled and then sealed."""
        segment = cls(disk, directory, base_offset, config, mark)
        for suffix in names.SEGMENT_SUFFIXES:
            disk.remove(segment._path(suffix))
        segment._file = disk.open(segment.log_path, create=True)
        segment._indexes_loaded = segment._index_is_proven = segment._max_timestamp_found = True
        return segment

    @classmethod
    def open(
        cls, disk: Disk, directory: str, base_offset: int, config: LogConfig, mark: str = ""
    ) -> Segment:
        """A segment that exists, its indexes not yet read."""
        segment = cls(disk, directory, base_offset, config, mark)
        segment.size = segment.file.size()
        return segment

    @property
    def log_path(self) -> str:
        return self._path(names.LOG_SUFFIX)

    @property
    def file(self) -> File:
        self.was_used = True
        file = self._file
        if file is None:
            file = self._file = self._disk.open(self.log_path)
            if self._open_files is not None:
                self._open_files.opened(self)
        return file

    def share(self, open_files: OpenFiles) -> None:
        """Keep the descriptor only as long as the bound on all of them allows."""
        self._open_files = open_files
        if self._file is not None:
            open_files.opened(self)

    @property
    def first_timestamp(self) -> int:
        """The first batch's largest timestamp, which time-based rolling counts from; -1: none.

        None either where the batch is damaged: that is no reason to write nothing after it.
        """
        if self._first_timestamp is None:
            first = None
            with suppress(DamagedBatchError):
                first = next(walk_headers(self.file, 0, self.size), None)
            if first is None:
                return NO_TIMESTAMP
            self._first_timestamp = first[1].max_timestamp
        return self._first_timestamp

    # Writing

    def append(
        self, batches: list[StagedBatch], aborted: Sequence[AbortedTransaction] = ()
    ) -> None:
        """Write the batches at the end with one pwritev and index them. Raises OSError.

        aborted: the transactions whose abort markers are among them.
        """
        position = self.size
        self.size += self.file.pwritev([batch.data for batch in batches], position)
        for batch in batches:
            size = len(batch.data)
            self._index(batch.last_offset, batch.max_timestamp, position, size)
            place = BatchPlace(position, batch.base_offset, batch.last_offset, size)
            self._recent.add(place)
            position += size
        self.txn_index.append(aborted)

    def index_anew(self) -> None:
        """Forget all that is known of the content; note_scanned() follows for every batch."""
        self.offset_index.reset()
        self.time_index.reset()
        self._indexes_loaded = self._index_is_proven = self._max_timestamp_found = True
        self.bytes_since_entry = 0
        self.max_timestamp, self._offset_of_max_timestamp = NO_TIMESTAMP, self.base_offset
        self._first_timestamp = None
        self._recent.clear()

    def note_scanned(self, position: int, header: BatchHeader) -> None:
        """Index a batch that lies in the file already."""
        self._index(header.last_offset, header.max_timestamp, position, header.size)

    def _index(self, last_offset: int, max_timestamp: int, position: int, size: int) -> None:
        if position == 0:
            self._first_timestamp = max_timestamp
        if max_timestamp > self.max_timestamp:
            self.max_timestamp, self._offset_of_max_timestamp = max_timestamp, last_offset
        if self.bytes_since_entry > self.config.index_interval_bytes:
            self.offset_index.append(last_offset, position)
            self.time_index.append_if_newer(self.max_timestamp, self._offset_of_max_timestamp)
            self.bytes_since_entry = 0
        self.bytes_since_entry += size

    # Life

    def activate(self) -> None:
        """Become the segment that is appended to: indexes take their zero-filled shape."""
        self.largest_timestamp()
        self.offset_index.preallocate()
        self.time_index.preallocate()
        self._index_is_proven = True

    def seal(self) -> None:
        """Stop being active."""
        self.largest_timestamp()
        self._finish_indexes()
        self._recent.clear()

    def largest_timestamp(self) -> int:
        """Of any batch here; -1 for none. Raises DamagedBatchError where not all can be read."""
        self.load_indexes()
        if not self._max_timestamp_found:
            self._find_max_timestamp()
        return self.max_timestamp

    def load_indexes(self) -> None:
        """Read the indexes unless they are in memory; rebuild them when they cannot be right."""
        if self._indexes_loaded:
            return
        try:
            self.offset_index.load()
            self.time_index.load()
            if self.offset_index.last_position() > self.size:
                raise DamagedIndexError(f"an index of {self.log_path} points past its end")
        except (DamagedIndexError, FileNotFoundError):
            self._rebuild_indexes()
        self._indexes_loaded = True

    def _rebuild_indexes(self) -> None:
        self.index_anew()
        self._indexes_loaded = False  # should reading fail half-way
        for position, header in walk_headers(self.file, 0, self.size, SCAN_CHUNK_BYTES):
            self.note_scanned(position, header)
        self._finish_indexes()

    def _finish_indexes(self) -> None:
        """The largest timestamp goes into the index, the zeros go.

        Should it be appended to again, after a start, the next index entry counts from here.
        """
        self.time_index.append_if_newer(self.max_timestamp, self._offset_of_max_timestamp)
        self.offset_index.trim()
        self.time_index.trim()
        self.bytes_since_entry = 0

    def files_to_sync(self, *, active: bool) -> list[File]:
        """What cannot be rebuilt and, once sealed, the other indexes; syncing may be on a thread.

        .txnindex can be rebuilt only with the state of producers at the segment's beginning, whose
        snapshot goes when the log's start passes it.
        """
        files = [self.file, *self.txn_index.files()]
        if not active:
            files += [self.offset_index.open(), self.time_index.open()]
        return files

    def set_aside(self) -> list[str]:
        """Let the files' names end in .deleted, from where they can still be read; their paths."""
        sources = {suffix: self._path(suffix) for suffix in names.SEGMENT_SUFFIXES}
        self._mark = names.DELETED_FILE_SUFFIX
        for index in (self.offset_index, self.time_index, self.txn_index):
            index.path += self._mark
        paths = []
        for suffix, source in sources.items():
            if self._disk.exists(source):
                paths.append(self._path(suffix))
                self._disk.rename(source, paths[-1])
        return paths

    def delete(self) -> None:
        """Remove the files; slices that still read keep the descriptor alive."""
        self.release()
        for suffix in names.SEGMENT_SUFFIXES:
            self._disk.remove(self._path(suffix))

    def release(self) -> None:
        """Drop the descriptor, which closes it unless a slice still reads from it."""
        self.let_go()
        if self._open_files is not None:
            self._open_files.closed(self)

    def let_go(self) -> None:
        self._file = None

    def truncate_at(self, position: int, next_offset: int) -> None:
        """Cut everything from position, where the batch that holds next_offset begins, durably.

        The cut is synced before anything is written after it: else a power loss could leave new
        batches followed by intact old ones.
        """
        self.load_indexes()
        self.file.truncate(position)
        self.file.sync()
        self.size = position
        self.offset_index.truncate_to(position)
        self.time_index.truncate_to(next_offset)
        self.txn_index.truncate_to(next_offset)
        self.bytes_since_entry = 0
        self._first_timestamp = None
        self._recent.clear()
        self._find_max_timestamp()

    def _find_max_timestamp(self) -> None:
        """From the time index and the batches after its last entry (readLargestTimestamp)."""
        timestamp, offset = self.time_index.last_entry()
        for _, header in self._headers_from(self.index_position(offset)):
            if header.max_timestamp > timestamp:
                timestamp, offset = header.max_timestamp, header.last_offset
        self.max_timestamp, self._offset_of_max_timestamp = timestamp, offset
        self._max_timestamp_found = True

    # Reading

    def find(self, offset: int) -> BatchPlace | None:
        """Exactly the batch that holds offset, or the first one after it; None past the end."""
        recent = self._recent.find(offset)
        if recent is not None:
            return recent
        for position, header in self._headers_from(self.index_position(offset)):
            if header.last_offset >= offset:
                return BatchPlace(position, header.base_offset, header.last_offset, header.size)
        return None

    def index_position(self, offset: int) -> int:
        """A batch boundary at or before the batch that holds offset."""
        self.load_indexes()
        position = self.offset_index.lookup(offset)
        if self._index_is_proven or position == 0:
            return position
        offsets = range(self.base_offset, offset + 1)
        if not points_at_batch(self.file, self.size, position, offsets):
            self._rebuild_indexes()
            self._indexes_loaded = True
            position = self.offset_index.lookup(offset)
        return position

    def offset_bound_at(self, position: int) -> int | None:
        """An offset above all batches before position (fetchUpperBoundOffset); None: the next
        segment's base.
        """
        self.load_indexes()
        return self.offset_index.first_offset_at(position)

    def next_offset(self) -> int:
        """The offset after the last batch; the base offset of an empty segment."""
        self.load_indexes()
        next_offset = self.base_offset
        for _, header in self._headers_from(self.offset_index.last_position()):
            next_offset = header.next_offset
        return next_offset

    def headers(self, from_offset: int) -> Iterator[tuple[int, BatchHeader]]:
        """Positions and headers of the batches that end at from_offset or later."""
        start = self.index_position(from_offset)
        for position, header in walk_headers(self.file, start, self.size, SCAN_CHUNK_BYTES):
            if header.last_offset >= from_offset:
                yield position, header

    def headers_from_time(
        self, timestamp_ms: int, from_offset: int
    ) -> Iterator[tuple[int, BatchHeader]]:
        """The batches from from_offset on that may hold records at or after timestamp_ms."""
        self.load_indexes()
        first = max(self.time_index.lookup(timestamp_ms), from_offset)
        for position, header in self.headers(first):
            if header.max_timestamp >= timestamp_ms:
                yield position, header

    def _headers_from(self, position: int) -> Iterator[tuple[int, BatchHeader]]:
        return walk_headers(self.file, position, self.size)

    def _path(self, suffix: str) -> str:
        return names.join(self._directory, names.offset_file(self.base_offset, suffix + self._mark))
