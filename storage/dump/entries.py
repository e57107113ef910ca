"""The batches of a .log file as Kafka's FileLogInputStream finds them, intact or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from logquake.storage.disk.seam import File
from logquake.wire.errors import RecordError
from logquake.wire.records import BatchHeader, check_crc, read_header
from logquake.wire.records.layout import LENGTH_OVERHEAD, MAGIC_POSITION, batch_bytes
from logquake.wire.records.legacy.entry import SMALLEST_MESSAGE


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
    while position < end - (MAGIC_POSITION + 1):
        size = batch_bytes(file.pread(LENGTH_OVERHEAD, position)) - LENGTH_OVERHEAD
        if size < SMALLEST_MESSAGE:
            raise UnreadableEntryError(position, f"a batch of {size} bytes")
        if position > end - LENGTH_OVERHEAD - size:
            return
        content = memoryview(file.pread(LENGTH_OVERHEAD + size, position))
        try:
            header = read_header(content)
        except RecordError as error:
            raise UnreadableEntryError(position, error.detail) from error
        yield FoundBatch(position, header, content)
        position += len(content)
