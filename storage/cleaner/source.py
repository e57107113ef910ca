"""The sealed segments that a cleaning reads, seen from a worker thread.

A Source has plain numbers, taken on the loop, and opens the file for itself: the Segment loads its
indexes and opens its file whenever a reader needs them, which two threads must not do at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk, File
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import BatchHeader, iterate_batches
from logquake.wire.records.layout import LENGTH_OVERHEAD, batch_bytes


class SealedSegment(NamedTuple):
    """A segment by plain numbers; end_offset is the next one's base offset."""

    base_offset: int
    end_offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Source:
    """One sealed segment and its files; modified_ms is wall time."""

    disk: Disk
    path: str
    base_offset: int
    end_offset: int
    size: int
    offset_index_bytes: int
    time_index_bytes: int
    modified_ms: int


def inspect(disk: Disk, directory: str, segment: SealedSegment) -> Source:
    """Raises OSError."""
    base_offset = segment.base_offset
    log, offset_index, time_index, _ = (
        names.join(directory, name) for name in names.segment_files(base_offset, "")
    )
    return Source(
        disk,
        log,
        base_offset,
        segment.end_offset,
        segment.size,
        _file_size(disk, offset_index),
        _file_size(disk, time_index),
        disk.modified_ms(log),
    )


class Chunk(NamedTuple):
    """Whole batches of one read, by their position in view; size in bytes."""

    view: memoryview
    batches: list[tuple[int, BatchHeader]]
    size: int


def read_chunks(source: Source, position: int, chunk_bytes: int) -> Iterator[Chunk]:
    """The segment's batches from position on, about chunk_bytes a time, or one that is larger.

    Raises OSError, RecordError where what is left holds no whole batch.
    """
    file = source.disk.open(source.path)
    while position < source.size:
        chunk = _read(source, file, position, max(chunk_bytes, LENGTH_OVERHEAD))
        yield chunk
        position += chunk.size


def _read(source: Source, file: File, position: int, size: int) -> Chunk:
    left = source.size - position
    view = memoryview(file.pread(min(size, left), position))
    try:
        batches = list(iterate_batches(view))
    except RecordError as error:
        where = f"segment {source.base_offset} from byte {position} on"
        raise RecordError(error.code, f"{where}: {error.detail}") from error
    if batches:
        last, header = batches[-1]
        return Chunk(view, batches, last + header.size)
    if len(view) < LENGTH_OVERHEAD or not size < (wanted := batch_bytes(view)) <= left:
        raise RecordError(
            ErrorCode.CORRUPT_MESSAGE,
            f"no batch at byte {position} of segment {source.base_offset}",
        )
    return _read(source, file, position, wanted)


def _file_size(disk: Disk, path: str) -> int:
    try:
        return disk.open(path).size()
    except FileNotFoundError:
        return 0  # it is built anew when a reader needs it
