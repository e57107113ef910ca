"""What the parts of one log share: its files, where it starts and ends, what is staged for it.

Log is the front; each of its parts (commit.py, reader.py, cuts.py, sync.py) takes
this state and changes it for one reason.
"""

from __future__ import annotations

from itertools import pairwise

from logquake.storage.disk.seam import Disk
from logquake.storage.invariants import must_hold
from logquake.storage.log.appender import LogAppender
from logquake.storage.log.files import LogFiles
from logquake.storage.log_config import LogConfig
from logquake.storage.producers.state import ProducerStates
from logquake.storage.segments.open_files import OpenFiles


class LogState:
    """``write_failed``: what a failed write left behind could not be undone yet.

    Invariants, once the log is open:
    - There is a segment. Segments ascend in base offset; the first one's is at or before the start.
    - start_offset <= written_end_offset <= appender.end_offset, the latter two equal exactly when
      nothing is staged.
    - The active segment begins at or before written_end_offset.
    - Leader epochs ascend, in epoch and in start offset, and begin within [start, end].
    - The producers reflect the log up to appender.end_offset.
    """

    __slots__ = (
        "appender",
        "config",
        "directory",
        "disk",
        "files",
        "producers",
        "start_offset",
        "write_failed",
        "written_end_offset",
    )

    def __init__(
        self, disk: Disk, directory: str, config: LogConfig, open_files: OpenFiles | None = None
    ) -> None:
        self.disk = disk
        self.directory = directory
        self.config = config
        self.files = LogFiles(disk, directory, config, open_files)
        self.producers = ProducerStates()
        partition = directory.rpartition("/")[2]
        self.appender = LogAppender(partition, config, self.producers, self.files.epochs)
        self.start_offset = 0
        self.written_end_offset = 0
        self.write_failed = False

    def configure(self, config: LogConfig) -> None:
        self.config = config
        self.files.segments.config = config
        self.appender.configure(config)

    def end_at(self, end_offset: int) -> None:
        """What is written ends here, and nothing is staged."""
        self.written_end_offset = end_offset
        self.appender.roll_back(end_offset, self.files.segments.active)

    def check_invariants(self) -> None:
        start, end = self.start_offset, self.written_end_offset
        staged_end = self.appender.end_offset
        bases = [segment.base_offset for segment in self.files.segments]
        epochs = self.files.epochs.entries
        must_hold(bool(bases) and bases[0] <= start, "segments begin before", bases, start)
        must_hold(all(a < b for a, b in pairwise(bases)), "segments ascend", bases)
        must_hold(start <= end <= staged_end, "start <= end <= staged", start, end, staged_end)
        must_hold(bool(self.appender.runs) == (end < staged_end), "what is staged", end, staged_end)
        must_hold(bases[-1] <= end, "the active segment begins before the end", bases, end)
        must_hold(
            all(a.epoch < b.epoch and a.start_offset < b.start_offset for a, b in pairwise(epochs))
            and all(start <= entry.start_offset <= staged_end for entry in epochs),
            "epochs ascend within the log",
            epochs,
            (start, staged_end),
        )
        reflected = self.producers.end_offset
        must_hold(reflected == staged_end, "producers reflect the log", reflected, staged_end)

    def require_nothing_staged(self) -> None:
        if self.appender.runs:
            end_offset = self.appender.end_offset
            raise RuntimeError(f"{self.directory}: {end_offset} is staged, not committed")
