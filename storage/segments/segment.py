"""One segment: a .log file with its indexes (Kafka's LogSegment)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Buffer, Disk, File
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.batch_walk import SCAN_CHUNK_BYTES, DamagedBatchError
from logquake.storage.segments.index_file import OffsetIndex, TimeIndex
from logquake.storage.segments.log_file import LogFile
from logquake.storage.segments.open_files import OpenFiles
from logquake.storage.segments.recent_batches import BatchPlace, RecentBatches
from logquake.storage.segments.sparse_indexes import SparseIndexes
from logquake.storage.segments.txn_index import AbortedTransaction, TransactionIndex
from logquake.wire.records import BatchHeader
from logquake.wire.sentinels import NO_TIMESTAMP

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
        """mark ends the names of the files while they are not, or no longer, part of the log."""
        self.base_offset = base_offset
        self.config = config
        self._disk = disk
        self._directory = directory
        self._mark = mark
        self._log = LogFile(disk, self._path(names.LOG_SUFFIX))
        max_bytes = config.index_max_bytes
        self.indexes = SparseIndexes(
            OffsetIndex(disk, self._path(names.OFFSET_INDEX_SUFFIX), base_offset, max_bytes),
            TimeIndex(disk, self._path(names.TIME_INDEX_SUFFIX), base_offset, max_bytes),
            self._log,
            base_offset,
            config.index_interval_bytes,
        )
        self.txn_index = TransactionIndex(
            disk, self._path(names.TRANSACTION_INDEX_SUFFIX), base_offset
        )
        self._recent = RecentBatches()
        self._first_timestamp: int | None = None

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
        segment._log.create()
        segment.indexes.begin()
        return segment

    @classmethod
    def open(
        cls, disk: Disk, directory: str, base_offset: int, config: LogConfig, mark: str = ""
    ) -> Segment:
        """A segment that exists, its indexes not yet read."""
        segment = cls(disk, directory, base_offset, config, mark)
        segment._log.take_size()
        return segment

    @property
    def log_path(self) -> str:
        return self._log.path

    @property
    def file(self) -> File:
        return self._log.handle

    @property
    def size(self) -> int:
        """Bytes of all batches."""
        return self._log.size

    @property
    def first_timestamp(self) -> int:
        """The first batch's largest timestamp, which time-based rolling counts from.

        NO_TIMESTAMP without a batch, and where it is damaged: that is no reason to write nothing
        after it.
        """
        if self._first_timestamp is None:
            first = None
            with suppress(DamagedBatchError):
                first = next(self._log.headers(0), None)
            if first is None:
                return NO_TIMESTAMP
            self._first_timestamp = first[1].max_timestamp
        return self._first_timestamp

    def largest_timestamp(self) -> int:
        """Of any batch here, or NO_TIMESTAMP. Raises DamagedBatchError where one cannot be read."""
        return self.indexes.largest_timestamp()

    # Writing

    def append(
        self, batches: list[StagedBatch], aborted: Sequence[AbortedTransaction] = ()
    ) -> None:
        """Write the batches at the end with one pwritev and index them. Raises OSError.

        aborted: the transactions whose abort markers are among them.
        """
        position = self._log.append([batch.data for batch in batches])
        for batch in batches:
            size = len(batch.data)
            self._index(batch.last_offset, batch.max_timestamp, position, size)
            place = BatchPlace(position, batch.base_offset, batch.last_offset, size)
            self._recent.add(place)
            position += size
        self.txn_index.append(aborted)

    def index_anew(self) -> None:
        """Forget all that is known of the content; note_scanned() follows for every batch."""
        self.indexes.reset()
        self._first_timestamp = None
        self._recent.clear()

    def note_scanned(self, position: int, header: BatchHeader) -> None:
        """Index a batch that lies in the file already."""
        self._index(header.last_offset, header.max_timestamp, position, header.size)

    def _index(self, last_offset: int, max_timestamp: int, position: int, size: int) -> None:
        if position == 0:
            self._first_timestamp = max_timestamp
        self.indexes.note(last_offset, max_timestamp, position, size)

    # Life

    def activate(self) -> None:
        """Become the segment that is appended to."""
        self.indexes.preallocate()

    def seal(self) -> None:
        """Stop being active."""
        self.indexes.finish()
        self._recent.clear()

    def truncate_at(self, position: int, next_offset: int) -> None:
        """Cut everything from position, where the batch that holds next_offset begins, durably."""
        self.indexes.load()
        self._log.cut_at(position)
        self.txn_index.truncate_to(next_offset)
        self._first_timestamp = None
        self._recent.clear()
        self.indexes.truncate_to(position, next_offset)

    def files_to_sync(self, *, active: bool) -> list[File]:
        """What cannot be rebuilt and, once sealed, the other indexes; syncing may be on a thread.

        .txnindex can be rebuilt only with the state of producers at the segment's beginning, whose
        snapshot goes when the log's start passes it.
        """
        files = [self.file, *self.txn_index.files()]
        if not active:
            files += [self.indexes.offsets.open(), self.indexes.times.open()]
        return files

    def set_aside(self) -> list[str]:
        """Let the files' names end in .deleted, from where they can still be read; their paths."""
        sources = {suffix: self._path(suffix) for suffix in names.SEGMENT_SUFFIXES}
        self._mark = names.DELETED_FILE_SUFFIX
        for file in (self._log, self.indexes.offsets, self.indexes.times, self.txn_index):
            file.path += self._mark
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

    def share(self, open_files: OpenFiles) -> None:
        """Keep the descriptor only as long as the bound on all of them allows."""
        self._log.share(open_files)

    def release(self) -> None:
        """Drop the descriptor, which closes it unless a slice still reads from it."""
        self._log.release()

    # Reading

    def find(self, offset: int) -> BatchPlace | None:
        """Exactly the batch that holds offset, or the first one after it; None past the end."""
        recent = self._recent.find(offset)
        if recent is not None:
            return recent
        for position, header in self._log.headers(self.indexes.position_of(offset)):
            if header.last_offset >= offset:
                return BatchPlace(position, header.base_offset, header.last_offset, header.size)
        return None

    def offset_bound_at(self, position: int) -> int | None:
        """An offset above all batches before position (fetchUpperBoundOffset); None: the next
        segment's base.
        """
        return self.indexes.first_offset_at(position)

    def next_offset(self) -> int:
        """The offset after the last batch; the base offset of an empty segment."""
        next_offset = self.base_offset
        for _, header in self._log.headers(self.indexes.last_position()):
            next_offset = header.next_offset
        return next_offset

    def headers(self, from_offset: int) -> Iterator[tuple[int, BatchHeader]]:
        """Positions and headers of the batches that end at from_offset or later."""
        start = self.indexes.position_of(from_offset)
        for position, header in self._log.headers(start, SCAN_CHUNK_BYTES):
            if header.last_offset >= from_offset:
                yield position, header

    def headers_from_time(
        self, timestamp_ms: int, from_offset: int
    ) -> Iterator[tuple[int, BatchHeader]]:
        """The batches from from_offset on that may hold records at or after timestamp_ms."""
        first = max(self.indexes.offset_before(timestamp_ms), from_offset)
        for position, header in self.headers(first):
            if header.max_timestamp >= timestamp_ms:
                yield position, header

    def _path(self, suffix: str) -> str:
        return names.join(self._directory, names.offset_file(self.base_offset, suffix + self._mark))
