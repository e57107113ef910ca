"""A segment that a cleaning writes, beside the log, under names that end in ``.cleaned``."""

from __future__ import annotations

from collections.abc import Sequence

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.segment import Segment, StagedBatch
from logquake.storage.segments.txn_index import AbortedTransaction


class CleanedSegment:
    """Belongs to the worker until seal() has returned. All methods raise OSError."""

    def __init__(self, disk: Disk, directory: str, base_offset: int, config: LogConfig) -> None:
        self.base_offset = base_offset
        self._disk = disk
        self._directory = directory
        self._segment = Segment.create_marked(
            disk, directory, base_offset, config, names.CLEANED_FILE_SUFFIX
        )

    @property
    def size(self) -> int:
        return self._segment.size

    def append(self, batches: list[StagedBatch], aborted: Sequence[AbortedTransaction]) -> None:
        """aborted are the transactions whose abort markers are among the batches."""
        if batches:  # an abort marker that is kept is one of them
            self._segment.append(batches, aborted)

    def seal(self, modified_ms: int) -> None:
        """Finish the indexes and make everything durable, the names aside.

        The files look as old as those that they replace: what retention and legacy tombstones
        make of a segment's age shall not begin anew with every cleaning.
        """
        segment = self._segment
        segment.seal()
        for file in segment.files_to_sync(active=False):
            file.sync()
        for name in names.segment_files(self.base_offset, names.CLEANED_FILE_SUFFIX):
            path = names.join(self._directory, name)
            if self._disk.exists(path):
                self._disk.set_modified_ms(path, modified_ms)
        segment.release()

    def discard(self) -> None:
        self._segment.delete()
