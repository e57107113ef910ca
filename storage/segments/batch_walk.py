"""Walking the record batches of a .log file from a known boundary, forwards, in chunks.

Batches of magic 2 and entries of older message sets may follow each other, as in a log that was
written through upgrades.
"""

from __future__ import annotations

from collections.abc import Iterator

from logquake.storage.disk.seam import File
from logquake.storage.errors import DamagedFileError
from logquake.wire.errors import RecordError
from logquake.wire.records import MAX_DECOMPRESSED_BYTES, iterate_records
from logquake.wire.records.header import BatchHeader, check_crc, read_header_within
from logquake.wire.records.layout import HEADER_BYTES

LOOKUP_CHUNK_BYTES = 8 * 1024
SCAN_CHUNK_BYTES = 1024 * 1024


class DamagedBatchError(DamagedFileError):
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
        if at + min(HEADER_BYTES, end - position) > len(chunk):
            chunk, chunk_start, at = (
                file.pread(min(chunk_bytes, end - position), position),
                position,
                0,
            )
        header = _plausible_header(chunk, at, position, end)
        yield position, header
        position += header.size


def first_offset_at(file: File, position: int, end: int) -> int:
    """The first offset of the batch at a position, known to be one and to end before end.

    Only a compressed entry of a message set has to be read for it; where that cannot be
    decompressed, its last offset stands for all.
    """
    _, header = next(walk_headers(file, position, end))
    if not (header.is_legacy and header.is_compressed):
        return header.base_offset
    batch = memoryview(file.pread(header.size, position))
    try:
        first = next(iterate_records(batch, 0, header, MAX_DECOMPRESSED_BYTES))
    except RecordError:
        return header.base_offset
    return first.offset


def walk_verified(file: File, position: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """As walk_headers, with every batch's CRC checked before it is handed out."""
    chunk, chunk_start = memoryview(b""), position
    while position < end:
        at = position - chunk_start
        if at + min(HEADER_BYTES, end - position) > len(chunk):
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
    try:
        header = read_header_within(chunk, at, end - position)
    except RecordError as error:
        raise DamagedBatchError(position, error.detail) from error
    if header.last_offset_delta < 0:
        raise DamagedBatchError(position, f"last offset delta {header.last_offset_delta}")
    return header
