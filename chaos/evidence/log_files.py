"""Replicas' logs out of brokers' data directories, batch by batch, by storage's own readers.

Of a partition's replicas the first is read record by record; of the others only those batches
are that the first has not, byte for byte: they agree nearly everywhere. One chunk of a file is in
memory at a time, and then 50 bytes a batch, and 16 a record of the first replica.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from logquake.chaos.evidence.clients import Share
from logquake.chaos.evidence.stored import BATCH, NO_MARKER, Column, StoredLog
from logquake.chaos.history.numbers import number_of
from logquake.storage import file_names as names
from logquake.storage.checkpoint_files import (
    LEADER_EPOCHS,
    LOG_START_OFFSETS,
    DamagedCheckpointError,
    read_epochs,
    read_offsets,
)
from logquake.storage.disk.read_only_disk import ReadOnlyDisk
from logquake.storage.disk.seam import File
from logquake.storage.segments.batch_walk import DamagedBatchError, walk_verified
from logquake.wire.errors import RecordError
from logquake.wire.records import (
    MAX_DECOMPRESSED_BYTES,
    BatchHeader,
    iterate_records,
    read_end_marker,
)
from logquake.wire.records.layout import LENGTH, LENGTH_OVERHEAD, LENGTH_POSITION
from logquake.wire.topic_partition import TopicPartition

_DISK = ReadOnlyDisk()
_ENTRY = struct.Struct("=qqqiiqihhh")  # BATCH, field by field
_MARKER_AT = struct.calcsize("=qqqiiqihh")
Logs = dict[str, dict[int, StoredLog]]


def read_logs(data_dirs: Mapping[int, Sequence[Path]], share: Share | None = None) -> Logs:
    """By partition and broker, of these partitions, or of all; ``data_dirs`` by broker. OSError."""
    found: Logs = {}
    for broker, directories in sorted(data_dirs.items()):
        for directory in directories:
            starts = _starts(directory)
            for partition, folder in partition_dirs(directory):
                if share is None or str(partition) in share:
                    replicas = found.setdefault(str(partition), {})
                    known = next(iter(replicas.values()), None)
                    start = starts.get(partition, 0)
                    replicas[broker] = read_log(broker, folder, start, known)
    return found


def partition_dirs(directory: Path) -> Iterator[tuple[TopicPartition, Path]]:
    """Of one log directory, by name."""
    for folder in sorted(directory.iterdir()):
        partition = names.parse_partition_dir(folder.name)
        if partition is not None:
            yield partition, folder


def read_log(
    broker: int, folder: Path, start: int = 0, known: StoredLog | None = None
) -> StoredLog:
    """One replica. ``known`` is another one, of which records are taken over where they agree."""
    path = str(folder)
    base_offsets = names.offsets_with(_DISK.list(path), names.LOG_SUFFIX)
    reading = _Reading(known)
    for base_offset in base_offsets:
        file = _DISK.open(names.join(path, names.offset_file(base_offset, names.LOG_SUFFIX)))
        try:
            if not reading.read(file):
                break
        finally:
            file.close()
    first = base_offsets[0] if base_offsets else 0
    return reading.log(broker, max(start, first), _epochs(path))


class _Reading:
    def __init__(self, known: StoredLog | None) -> None:
        self._known = known
        self._expected = b"" if known is None else known.batches.tobytes()
        self._batches = bytearray()
        self._offsets, self._values = array("q"), array("q")
        self._shared = 0  # batches that the known log has too, from the first on
        self.damage: str | None = None

    def read(self, file: File) -> bool:
        """False where it is damaged."""
        size = file.size()
        position = 0
        try:
            for position, header in walk_verified(file, 0, size):
                self._take(file, position, header)
        except DamagedBatchError as error:
            if not _is_torn(file, error.position, size):
                self.damage = str(error)
            return False
        except RecordError as error:
            self.damage = f"at byte {position}: {error}"
            return False
        return True

    def _take(self, file: File, position: int, header: BatchHeader) -> None:
        entry = _entry(header, NO_MARKER)
        if not self._batches and self._is_known(entry):
            self._shared += 1
            return
        batch = memoryview(file.pread(header.size, position))
        if header.is_control:
            marker = read_end_marker(batch, 0, header) if header.record_count else None
            if marker is not None:
                entry = _entry(header, int(marker.control_type))
        else:
            for record in iterate_records(batch, 0, header, MAX_DECOMPRESSED_BYTES):
                self._offsets.append(record.offset)
                self._values.append(number_of(record.value, record.headers))
        self._batches += entry

    def _is_known(self, entry: bytes) -> bool:
        """Whether the known log's next batch is the same, byte for byte, whatever it marks."""
        return self._expected.startswith(entry[:_MARKER_AT], self._shared * len(entry))

    def log(self, broker: int, start: int, epochs: Sequence[tuple[int, int]]) -> StoredLog:
        batches = np.frombuffer(self._batches, BATCH)
        offsets, values = _column(self._offsets), _column(self._values)
        if self._known is not None and self._shared:
            batches, offsets, values = self._after_shared(self._known, batches, offsets, values)
        return StoredLog(broker, start, batches, offsets, values, epochs, self.damage)

    def _after_shared(
        self, known: StoredLog, batches: np.ndarray, offsets: Column, values: Column
    ) -> tuple[np.ndarray, Column, Column]:
        shared = known.batches[: self._shared]
        count = int(np.searchsorted(known.offsets, shared["next"][-1]))
        parts = (shared, batches), (known.offsets[:count], offsets), (known.values[:count], values)
        joined = [one if not len(other) else np.concatenate((one, other)) for one, other in parts]
        return joined[0], joined[1], joined[2]


def _is_torn(file: File, position: int, size: int) -> bool:
    """Whether the file ends within the batch there: a broker is at it, or was killed."""
    begun = file.pread(LENGTH_OVERHEAD, position)
    if len(begun) < LENGTH_OVERHEAD:
        return True
    length: int = LENGTH.unpack_from(begun, LENGTH_POSITION)[0]
    return position + LENGTH_OVERHEAD + length > size


def _entry(header: BatchHeader, marker: int) -> bytes:
    """As BATCH has it."""
    return _ENTRY.pack(
        header.base_offset,
        header.next_offset,
        header.producer_id,
        header.partition_leader_epoch,
        header.size,
        header.crc,
        header.base_sequence,
        header.producer_epoch,
        header.attributes,
        marker,
    )


def _column(values: array[int]) -> Column:
    return np.array(values, np.int64)


def _starts(directory: Path) -> dict[TopicPartition, int]:
    try:
        return read_offsets(_DISK, str(directory / LOG_START_OFFSETS))
    except DamagedCheckpointError:
        return {}


def _epochs(path: str) -> Sequence[tuple[int, int]]:
    try:
        return read_epochs(_DISK, names.join(path, LEADER_EPOCHS))
    except DamagedCheckpointError:
        return ()
