"""One bit of a replica's file is another, as a disk does it that forgets."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

from logquake.cluster.errors import ClusterError
from logquake.cluster.running.segment_files import segment_of
from logquake.wire.records import iterate_batches
from logquake.wire.topic_partition import TopicPartition


def flip_bit(data_dirs: Sequence[Path], partition: TopicPartition, offset: int) -> tuple[Path, int]:
    """Flip the lowest bit of the last byte of the batch that holds ``offset``: of its last record,
    which the checksum covers. Returns the file and the byte's position. Raises ClusterError.
    """
    segment = segment_of(data_dirs, partition, offset)
    with segment.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        position = _end_of_batch(content, offset) - 1
        if position < 0:
            raise ClusterError(f"{partition} has no offset {offset} in {segment}")
        content[position] ^= 1
    return segment, position


def _end_of_batch(content: mmap.mmap, offset: int) -> int:
    """0 if no batch holds it."""
    with memoryview(content) as view:
        for position, header in iterate_batches(view):
            if header.base_offset <= offset < header.next_offset:
                return position + header.size
    return 0
