"""Keeping a log's producer state across restarts: snapshot files, and the log behind them.

A snapshot is written at every roll and clean close. State is rebuilt from the latest intact one
plus the batches after it (ProducerStateManager.truncateAndReload, UnifiedLog.rebuildProducerState).
"""

from __future__ import annotations

from logquake.storage import file_names as names
from logquake.storage.disk import Disk, File
from logquake.storage.producer_snapshot import DamagedSnapshotError, decode_snapshot
from logquake.storage.producer_state import ProducerStates
from logquake.storage.segment import Segment
from logquake.storage.segments import Segments
from logquake.wire.records import BatchHeader, read_end_marker


class ProducerSnapshots:
    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._directory = directory

    def write(self, offset: int, content: bytes) -> File:
        """Write the snapshot without syncing it; the file, to be synced."""
        file = self._disk.open(self._path(offset), create=True)
        file.truncate(0)
        file.pwritev([content], 0)
        return file

    def offsets(self) -> list[int]:
        return names.offsets_with(self._disk.list(self._directory), names.SNAPSHOT_SUFFIX)

    def delete_outside(self, start_offset: int, end_offset: int) -> None:
        """Delete the snapshots that are not in (start_offset, end_offset]."""
        for offset in self.offsets():
            if not start_offset < offset <= end_offset:
                self._disk.remove(self._path(offset))

    def delete_all(self) -> None:
        for offset in self.offsets():
            self._disk.remove(self._path(offset))

    def prune(self, base_offsets: set[int]) -> None:
        """Keep those that begin a segment and the latest one (removeStraySnapshots)."""
        for offset in self.offsets()[:-1]:
            if offset not in base_offsets:
                self._disk.remove(self._path(offset))

    def open_files(self, from_offset: int) -> list[File]:
        """The files of the snapshots at from_offset or later, to be synced."""
        kept = [offset for offset in self.offsets() if offset >= from_offset]
        return [self._disk.open(self._path(offset)) for offset in kept]

    def rebuild(
        self,
        states: ProducerStates,
        segments: Segments,
        start_offset: int,
        end_offset: int,
    ) -> None:
        """Make states reflect the log's [start_offset, end_offset); later snapshots are deleted."""
        self.delete_outside(start_offset, end_offset)
        self._load_latest(states, start_offset)
        for segment in segments.from_offset(states.end_offset):
            for position, header in segment.headers(states.end_offset):
                if header.base_offset >= states.end_offset:
                    self._replay(states, segment, position, header)
        states.skip_to(end_offset)
        states.keep()

    def _load_latest(self, states: ProducerStates, start_offset: int) -> None:
        for offset in reversed(self.offsets()):
            try:
                states.load(decode_snapshot(self._disk.read(self._path(offset))), offset)
            except DamagedSnapshotError:
                self._disk.remove(self._path(offset))
            else:
                return
        states.load((), start_offset)

    def _replay(
        self, states: ProducerStates, segment: Segment, position: int, header: BatchHeader
    ) -> None:
        if header.is_control:
            batch = memoryview(segment.file.pread(header.size, position))
            replay_control(states, batch, header)
        else:
            states.append_data(header, header.base_offset, header.max_timestamp)

    def _path(self, offset: int) -> str:
        return names.join(self._directory, names.offset_file(offset, names.SNAPSHOT_SUFFIX))


def replay_control(states: ProducerStates, batch: memoryview, header: BatchHeader) -> None:
    """Let a control batch take effect. Raises RecordError where its record is unreadable."""
    # A batch without records is what compaction leaves of an old transaction.
    marker = read_end_marker(batch, 0, header) if header.record_count else None
    if marker is None:
        states.skip_to(header.next_offset)
    else:
        states.append_end_marker(
            header, header.base_offset, marker.coordinator_epoch, header.max_timestamp
        )
