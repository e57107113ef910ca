"""The .log file of one segment: how much of it counts, and its descriptor, which comes and goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logquake.storage.disk.seam import Buffer, Disk, File
from logquake.storage.segments.batch_walk import LOOKUP_CHUNK_BYTES, walk_headers
from logquake.storage.segments.open_files import OpenFiles
from logquake.wire.records import BatchHeader


class LogFile:
    """``size`` counts what was written whole; bytes after it are what a failed write left.

    ``was_used``: it was, since OpenFiles last looked.
    """

    def __init__(self, disk: Disk, path: str) -> None:
        self.path = path
        self.size = 0
        self.was_used = False
        self._disk = disk
        self._handle: File | None = None
        self._open_files: OpenFiles | None = None

    @property
    def handle(self) -> File:
        self.was_used = True
        handle = self._handle
        if handle is None:
            handle = self._handle = self._disk.open(self.path)
            if self._open_files is not None:
                self._open_files.opened(self)
        return handle

    def create(self) -> None:
        self._handle = self._disk.open(self.path, create=True)

    def take_size(self) -> None:
        """All that is in the file counts."""
        self.size = self.handle.size()

    def append(self, buffers: Sequence[Buffer]) -> int:
        """Write all of them at the end with one pwritev; the position of the first."""
        position = self.size
        self.size += self.handle.pwritev(buffers, position)
        return position

    def cut_at(self, position: int) -> None:
        """Durably, before anything is written after it.

        Else a power loss could leave new batches followed by intact old ones.
        """
        self.handle.truncate(position)
        self.handle.sync()
        self.size = position

    def headers(
        self, position: int, chunk_bytes: int = LOOKUP_CHUNK_BYTES
    ) -> Iterator[tuple[int, BatchHeader]]:
        """Positions and headers from a batch boundary on. Raises DamagedBatchError."""
        return walk_headers(self.handle, position, self.size, chunk_bytes)

    # The descriptor

    def share(self, open_files: OpenFiles) -> None:
        """Keep it only as long as the bound on all of them allows."""
        self._open_files = open_files
        if self._handle is not None:
            open_files.opened(self)

    def release(self) -> None:
        """Drop it, which closes it unless a slice still reads from it."""
        self.let_go()
        if self._open_files is not None:
            self._open_files.closed(self)

    def let_go(self) -> None:
        self._handle = None
