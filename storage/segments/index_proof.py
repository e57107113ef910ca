"""Is an entry of an .index true? Kafka believes what ascends and stays within the log.

A flipped bit in one would make a whole segment unreadable, or skip records without a word; that
the log itself tells otherwise costs one more read to find out.
"""

from __future__ import annotations

from logquake.storage.disk.seam import File
from logquake.storage.segments.batch_walk import DamagedBatchError, walk_headers


def points_at_batch(file: File, size: int, position: int, offsets: range) -> bool:
    """Whether a batch of these offsets begins at the position.

    An entry names the last offset of a batch, or of some that follow each other, and where the
    first of them begins.
    """
    try:
        _, header = next(walk_headers(file, position, size))
    except DamagedBatchError:
        return False
    return header.base_offset >= offsets.start and header.last_offset < offsets.stop
