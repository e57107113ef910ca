"""One bit of a replica's file is another, as a disk does it that forgets."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

from logquake.cluster.errors import ClusterError
from logquake.storage.file_names import LOG_SUFFIX, offset_of
from logquake.wire.records import iterate_batches
from logquake.wire.topic_partition import TopicPartition


def flip_bit(data_dirs: Sequence[Path], partition: TopicPartition, offset: int) -> tuple[Path, int]:
    """Flip the lowest bit of the last byte of the batch that holds ``offset``: of its last record,
    which the checksum covers. Returns the file and the byte's position. Raises ClusterError.
    """
    segment = _segment(data_dirs, partition, offset)
    with segment.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        position = _end_of_batch(content, offset) - 1
        if position < 0:
            raise ClusterError(f"{partition} has no offset {offset} in {segment}")
        content[position] ^= 1
    return segment, position


def _segment(data_dirs: Sequence[Path], partition: TopicPartition, offset: int) -> Path:
    folders = [folder / str(partition) for folder in data_dirs]
    starts = {
        base: path
        for folder in folders
        if folder.is_dir()
        for path in folder.iterdir()
        if (base := offset_of(path.name, LOG_SUFFIX)) is not None and path.stat().st_size
    }
    at_or_before = [base for base in starts if base <= offset]
    if not at_or_before:
        raise ClusterError(
            f"no segment of {partition} has offset {offset} in {data_dirs[0].parent}"
        )
    return starts[max(at_or_before)]


def _end_of_batch(content: mmap.mmap, offset: int) -> int:
    """0 if no batch holds it."""
    with memoryview(content) as view:
        for position, header in iterate_batches(view):
            if header.base_offset <= offset < header.next_offset:
                return position + header.size
    return 0
