"""What the parts of one log share: its files, where it starts and ends, what is staged for it.

Log is the front; each of its parts (commit.py, reader.py, cuts.py, sync.py) takes
this state and changes it for one reason.
"""

from __future__ import annotations

from logquake.storage.disk.seam import Disk
from logquake.storage.log.appender import LogAppender
from logquake.storage.log.files import LogFiles
from logquake.storage.log_config import LogConfig
from logquake.storage.producers.state import ProducerStates
from logquake.storage.segments.open_files import OpenFiles


class LogState:
    """``write_failed``: what a failed write left behind could not be undone yet."""

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

    def require_nothing_staged(self) -> None:
        if self.appender.runs:
            end_offset = self.appender.end_offset
            raise RuntimeError(f"{self.directory}: {end_offset} is staged, not committed")
