"""What is on brokers' disks, every replica, without a broker: format("logquake.segments").

A row is a record of one replica, a marker of a transaction, or a batch that is damaged. Where it
cannot be told where a damaged batch ends, that one is the last of its file. Brokers may run
meanwhile: what a partition's last file ends in the middle of is no row, and a file that was deleted
has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from logquake.pipeline.columns import (
    LARGEST_MS,
    ROWS_PER_BATCH,
    US_PER_MS,
    Columns,
    arrow_type,
)
from logquake.pipeline.formats.damage import is_end
from logquake.pipeline.formats.files import FilesReader
from logquake.pipeline.options.values import OptionError, by_known_name, names, path_of
from logquake.storage import file_names
from logquake.storage.dirs.meta_properties import FILE_NAME as META_PROPERTIES
from logquake.storage.dirs.meta_properties import read_meta_properties
from logquake.storage.disk.read_only_disk import ReadOnlyDisk
from logquake.storage.disk.seam import File
from logquake.storage.segments.batch_walk import (
    SCAN_CHUNK_BYTES,
    DamagedBatchError,
    walk_headers,
)
from logquake.wire.errors import RecordError
from logquake.wire.records import (
    MAX_DECOMPRESSED_BYTES,
    BatchHeader,
    iterate_records,
    read_end_marker,
)
from logquake.wire.records.header import MAX_SEQUENCE, check_crc
from logquake.wire.sentinels import NO_SEQUENCE
from logquake.wire.topic_partition import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_SCHEMA = (
    "broker int, topic string, partition int, segment bigint, position bigint, offset bigint, "
    "epoch int, timestamp timestamp, timestampType int, producerId bigint, producerEpoch int, "
    "sequence int, isTransactional boolean, control string, key binary, value binary, "
    "crcOk boolean"
)
# Of a batch of which nothing is known: all behind its offset, which is the one that is due there.
_UNREADABLE = (*[None] * 10, False)
_LEVELS = ("", "*/", "*/*/")  # a log directory itself, a broker's folder, a cluster's
_DISK = ReadOnlyDisk()

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SegmentFile:
    broker: int
    partition: TopicPartition
    path: str
    is_last: bool = True  # of its partition: it may be written to

    @property
    def base_offset(self) -> int:
        return file_names.leading_offset(file_names.last_part(self.path))

    def size(self) -> int:
        """Of one that was deleted none."""
        try:
            return Path(self.path).stat().st_size
        except FileNotFoundError:
            return 0


class SegmentsDataSource(DataSource):
    """Options: ``path``, and ``topics``, separated by commas. Raises OptionError for others."""

    @classmethod
    def name(cls) -> str:
        return "logquake.segments"

    def schema(self) -> str:
        return _SCHEMA

    def reader(self, schema: StructType) -> FilesReader[SegmentFile]:  # noqa: ARG002  # Spark's
        return FilesReader(find_segments(self.options), read_segment, SegmentFile.size)


def find_segments(options: Mapping[str, str]) -> list[SegmentFile]:
    """Of all brokers whose directories lie in the path or below it."""
    given = by_known_name(options, ("path", "topics"))
    path = path_of(given, "of a cluster, a broker, or a log directory")
    topics = names(given["topics"]) if "topics" in given else None
    found = [
        segment
        for log_dir in _log_dirs(path)
        for segment in _segments_of(log_dir)
        if topics is None or segment.partition.topic in topics
    ]
    in_order = sorted(found, key=lambda each: (each.broker, each.partition, each.path))
    lasts = {Path(each.path).parent: each.path for each in in_order}
    return [replace(each, is_last=each.path == lasts[Path(each.path).parent]) for each in in_order]


def _log_dirs(path: Path) -> list[Path]:
    found = [file.parent for level in _LEVELS for file in path.glob(f"{level}{META_PROPERTIES}")]
    if not found:
        raise OptionError(f"{path}: no log directory there or below, none with {META_PROPERTIES}")
    return found


def _segments_of(log_dir: Path) -> Iterator[SegmentFile]:
    meta = read_meta_properties(_DISK, str(log_dir))
    broker = -1 if meta is None or meta.broker_id is None else meta.broker_id
    for folder in log_dir.iterdir():
        partition = file_names.parse_partition_dir(folder.name)
        if partition is not None:
            for file in folder.iterdir():
                if file_names.offset_of(file.name, file_names.LOG_SUFFIX) is not None:
                    yield SegmentFile(broker, partition, str(file))


def read_segment(segment: SegmentFile) -> Iterator[pa.RecordBatch]:
    """Raises OSError."""
    columns = Columns(_arrow_schema())
    for rows in _rows(segment):
        columns.add(rows)
        if len(columns) >= ROWS_PER_BATCH:
            yield columns.take()
    if len(columns):
        yield columns.take()


def _rows(segment: SegmentFile) -> Iterator[Iterable[Row]]:
    """Batch by batch, up to where no batch begins any more."""
    try:
        file = _DISK.open(segment.path)
    except FileNotFoundError:
        return
    try:
        yield from _rows_in(segment, file, file.size())
    finally:
        file.close()


def _rows_in(segment: SegmentFile, file: File, end: int) -> Iterator[Iterable[Row]]:
    at = (segment.broker, *segment.partition, segment.base_offset)
    due = segment.base_offset
    try:
        for position, header in walk_headers(file, 0, end, SCAN_CHUNK_BYTES):
            batch = memoryview(file.pread(header.size, position))
            yield [(*at, position, *row) for row in _rows_of(batch, header)]
            due = header.next_offset
    except DamagedBatchError as error:
        if not (segment.is_last and is_end(file, error.position, end, due)):
            yield [(*at, error.position, due, *_UNREADABLE)]


def _rows_of(batch: memoryview, header: BatchHeader) -> list[Row]:
    try:
        check_crc(batch, 0, header)
        if header.is_control and header.record_count:  # else a cleaner has left the header alone
            marker = read_end_marker(batch, 0, header)
            control = "unknown" if marker is None else marker.control_type.name.lower()
            return [_row(header, header.base_offset, header.max_timestamp, control=control)]
        return [
            _row(header, one.offset, one.timestamp_ms, key=one.key, value=one.value)
            for one in iterate_records(batch, 0, header, MAX_DECOMPRESSED_BYTES)
        ]
    except RecordError:
        return [_row(header, header.base_offset, header.max_timestamp, is_sound=False)]


def _row(
    header: BatchHeader,
    offset: int,
    timestamp_ms: int,
    *,
    control: str | None = None,
    key: bytes | None = None,
    value: bytes | None = None,
    is_sound: bool = True,
) -> Row:
    sequence = header.base_sequence
    if sequence != NO_SEQUENCE:
        sequence = (sequence + offset - header.base_offset) & MAX_SEQUENCE
    return (
        offset,
        header.partition_leader_epoch,
        _micros(timestamp_ms),
        header.timestamp_type,
        header.producer_id,
        header.producer_epoch,
        sequence,
        header.is_transactional,
        control,
        key,
        value,
        is_sound,
    )


def _micros(timestamp_ms: int) -> int | None:
    """None of a time that Spark has not: a program may write any, and damage too."""
    return timestamp_ms * US_PER_MS if abs(timestamp_ms) <= LARGEST_MS else None


def _arrow_schema() -> pa.Schema:
    import pyarrow as pa

    fields = (field.split() for field in _SCHEMA.split(", "))
    return pa.schema([(name, arrow_type(kind)) for name, kind in fields])
