"""Walking the record batches of a .log file from a known boundary, forwards, in chunks."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.storage.disk import File
from logquake.wire.errors import RecordError
from logquake.wire.records.header import HEADER, HEADER_BYTES, MAGIC, BatchHeader, check_crc

LOOKUP_CHUNK_BYTES = 8 * 1024
SCAN_CHUNK_BYTES = 1024 * 1024


class DamagedBatchError(Exception):
    """The bytes from ``position`` on are not an intact batch: a torn write, or garbage."""

    def __init__(self, position: int, why: str) -> None:
        super().__init__(f"at byte {position}: {why}")
        self.position = position
        self.why = why


def walk_headers(
    file: File, position: int, end: int, chunk_bytes: int = LOOKUP_CHUNK_BYTES
) -> Iterator[tuple[int, BatchHeader]]:
    """Positions and headers of the batches in [position, end), no CRC checked.

    Raises DamagedBatchError where a header cannot be one, or its batch runs past end.
    """
    chunk, chunk_start = b"", position
    while position < end:
        at = position - chunk_start
        if at + HEADER_BYTES > len(chunk):
            chunk, chunk_start, at = (
                file.pread(min(chunk_bytes, end - position), position),
                position,
                0,
            )
        header = _plausible_header(chunk, at, position, end)
        yield position, header
        position += header.size


def walk_verified(file: File, position: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """As walk_headers, with every batch's CRC checked before it is handed out."""
    chunk, chunk_start = memoryview(b""), position
    while position < end:
        at = position - chunk_start
        if at + HEADER_BYTES > len(chunk):
            chunk, chunk_start, at = _chunk(file, position, SCAN_CHUNK_BYTES, end), position, 0
        header = _plausible_header(chunk, at, position, end)
        if at + header.size > len(chunk):
            wanted = max(SCAN_CHUNK_BYTES, header.size)
            chunk, chunk_start, at = _chunk(file, position, wanted, end), position, 0
        try:
            check_crc(chunk, at, header)
        except RecordError as error:
            raise DamagedBatchError(position, error.detail) from error
        yield position, header
        position += header.size


def _chunk(file: File, position: int, size: int, end: int) -> memoryview:
    return memoryview(file.pread(min(size, end - position), position))


def _plausible_header(chunk: bytes | memoryview, at: int, position: int, end: int) -> BatchHeader:
    if at + HEADER_BYTES > len(chunk):
        raise DamagedBatchError(position, f"{len(chunk) - at} bytes are too few for a batch")
    header = BatchHeader(*HEADER.unpack_from(chunk, at))
    if header.magic != MAGIC:
        raise DamagedBatchError(position, f"magic {header.magic}")
    if header.size < HEADER_BYTES or position + header.size > end:
        raise DamagedBatchError(
            position, f"batch of {header.size} bytes, {end - position} are left"
        )
    if header.last_offset_delta < 0:
        raise DamagedBatchError(position, f"last offset delta {header.last_offset_delta}")
    return header
