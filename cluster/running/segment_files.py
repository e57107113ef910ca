"""Where a broker keeps a segment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from logquake.cluster.errors import ClusterError
from logquake.storage.file_names import LOG_SUFFIX, offset_of
from logquake.wire.topic_partition import TopicPartition


def segment_of(data_dirs: Sequence[Path], partition: TopicPartition, offset: int) -> Path:
    """The log that has an offset, or the last one before it. Raises ClusterError."""
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
