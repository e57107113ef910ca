"""The batches of a .log file as Kafka's FileLogInputStream finds them, intact or not."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from logquake.storage.disk.seam import File
from logquake.wire.errors import RecordError
from logquake.wire.records import BatchHeader, check_crc, read_header

_PREFIX = struct.Struct(">qi")  # offset, size
_UP_TO_MAGIC = 17
_SMALLEST_SIZE = 14  # of a message of magic 0


class UnreadableEntryError(Exception):
    """What lies at ``position`` is no batch, and where the next one begins is not known."""

    def __init__(self, position: int, why: str) -> None:
        super().__init__(f"at byte {position}: {why}")


class FoundBatch(NamedTuple):
    """One batch, and its bytes."""

    position: int
    header: BatchHeader
    content: memoryview

    @property
    def is_valid(self) -> bool:
        try:
            check_crc(self.content, 0, self.header)
        except RecordError:
            return False
        return True


def read_batches(file: File, start: int, end: int) -> Iterator[FoundBatch]:
    """The batches that lie within [start, end). Raises UnreadableEntryError.

    An incomplete last one is passed over in silence: whoever asks can tell from its position.
    """
    position = start
    # Kafka looks no further where only a batch without content would fit.
    while position < end - _UP_TO_MAGIC:
        _, size = _PREFIX.unpack(file.pread(_PREFIX.size, position))
        if size < _SMALLEST_SIZE:
            raise UnreadableEntryError(position, f"a batch of {size} bytes")
        if position > end - _PREFIX.size - size:
            return
        content = memoryview(file.pread(_PREFIX.size + size, position))
        try:
            header = read_header(content)
        except RecordError as error:
            raise UnreadableEntryError(position, error.detail) from error
        yield FoundBatch(position, header, content)
        position += len(content)
