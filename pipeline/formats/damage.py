"""Where a segment's file cannot be read on: damage, or an end that is no whole batch.

The latter is there while a broker writes, and after a loss of power, when its log is cut off there.
Damage to a batch's length looks alike, but for what follows it.

Caveat: what follows is looked for as batches of magic 2 below 16 MiB, not as older message sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from logquake.storage.disk.seam import File
from logquake.storage.segments.batch_walk import SCAN_CHUNK_BYTES
from logquake.wire.errors import RecordError
from logquake.wire.records.header import check_crc, read_header_within
from logquake.wire.records.layout import HEADER_BYTES, LENGTH, LENGTH_OVERHEAD, LENGTH_POSITION

# An offset below 2**40, a length below 2**24, any epoch, magic 2: as nearly all batches begin.
_BEGINNING = re.compile(rb"(?=\x00{3}.{5}\x00.{7}\x02)", re.DOTALL)
_BEGINNING_BYTES = 17


def is_end(file: File, position: int, end: int, due: int) -> bool:
    """Whether the file just ends behind ``position``, where the batch of offset ``due`` would be.

    Raises OSError.
    """
    if not (_runs_over(file, position, end) or _is_empty(file, position, end)):
        return False
    return not any(_is_batch(file, at, end, due) for at in _beginnings(file, position + 1, end))


def _runs_over(file: File, position: int, end: int) -> bool:
    head = file.pread(min(LENGTH_OVERHEAD, end - position), position)
    if len(head) < LENGTH_OVERHEAD:
        return True
    length: int = LENGTH.unpack_from(head, LENGTH_POSITION)[0]
    return LENGTH_OVERHEAD + length > end - position


def _is_empty(file: File, position: int, end: int) -> bool:
    """Made longer, and never written."""
    return all(chunk.count(0) == len(chunk) for _, chunk in _chunks(file, position, end, 0))


def _beginnings(file: File, position: int, end: int) -> Iterator[int]:
    for at, chunk in _chunks(file, position, end, _BEGINNING_BYTES - 1):
        yield from (at + found.start() for found in _BEGINNING.finditer(chunk))


def _chunks(file: File, position: int, end: int, overlap: int) -> Iterator[tuple[int, bytes]]:
    for at in range(position, end, SCAN_CHUNK_BYTES):
        yield at, file.pread(min(SCAN_CHUNK_BYTES + overlap, end - at), at)


def _is_batch(file: File, position: int, end: int, due: int) -> bool:
    try:
        head = file.pread(min(HEADER_BYTES, end - position), position)
        header = read_header_within(head, 0, end - position)
        check_crc(memoryview(file.pread(header.size, position)), 0, header)
    except RecordError:
        return False
    return header.base_offset >= due
