"""A piece of a .log file: what a read hands to a response, to be sent without passing Python."""

from __future__ import annotations

from dataclasses import dataclass
from io import UnsupportedOperation

from logquake.storage.disk.seam import Readable
from logquake.wire.sentinels import UNKNOWN_OFFSET


@dataclass(frozen=True, slots=True)
class LogSlice:
    """``size`` bytes of ``file`` from ``position``, beginning with a whole batch's first byte.

    The end may lie within a batch, as in Kafka: readers ignore an incomplete last batch. The slice
    keeps its file open, but a truncation of the log can shorten the file under it: a sendfile that
    comes up short must end the connection.
    """

    file: Readable
    position: int
    size: int
    first_offset: int  # base offset of the first batch; UNKNOWN_OFFSET when empty

    def __len__(self) -> int:
        return self.size

    def read(self) -> bytes:
        return self.file.pread(self.size, self.position) if self.size else b""


class _NoFile:
    """Stands where nothing is to be read."""

    def pread(self, _size: int, _position: int) -> bytes:
        return b""

    def fileno(self) -> int:
        raise UnsupportedOperation("there is no file")


EMPTY_SLICE = LogSlice(_NoFile(), 0, 0, UNKNOWN_OFFSET)
