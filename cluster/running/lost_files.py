"""Single files of a broker that a disk has lost, or kept a part of.

The files are changed behind the broker's back, whether it runs or not. One that runs goes on with
what it has open, and meets the loss where it reads, at its next start at the latest.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from logquake.cluster.errors import ClusterError
from logquake.cluster.faults.disk.patterns import path_pattern
from logquake.cluster.running.segment_files import segment_of
from logquake.wire.topic_partition import TopicPartition


def lose_files(data_dirs: Sequence[Path], pattern: str) -> list[Path]:
    """Remove those whose paths match; which they were. Raises ClusterError where none does."""
    lost = _matching(data_dirs, pattern)
    for path in lost:
        path.unlink(missing_ok=True)
    return lost


def lose_segment(data_dirs: Sequence[Path], partition: TopicPartition, offset: int) -> list[Path]:
    """Remove the segment that has this offset: its log, and all that is named as it is.

    Returns which files they were. Raises ClusterError where there is none.
    """
    log = segment_of(data_dirs, partition, offset)
    return lose_files([log.parent], f"{log.stem}.*")


def cut_file(data_dirs: Sequence[Path], pattern: str, to_bytes: int | None) -> tuple[Path, int]:
    """Cut off the end of the last file by path that matches and has more, which is the newest of
    a log's segments. Half of it stays unless told.

    Returns the file and its size now. Raises ClusterError where there is none.
    """
    sizes = {path: path.stat().st_size for path in _matching(data_dirs, pattern)}
    longer = [path for path, size in sizes.items() if size > (to_bytes or 0)]
    if not longer:
        raise ClusterError(f"no file that matches {pattern} has more than {to_bytes or 0} bytes")
    path = longer[-1]
    kept = sizes[path] // 2 if to_bytes is None else to_bytes
    os.truncate(path, kept)
    return path, kept


def _matching(data_dirs: Sequence[Path], pattern: str) -> list[Path]:
    """In the order of their names."""
    is_meant = path_pattern(pattern)
    files = [path for folder in data_dirs for path in folder.rglob("*") if path.is_file()]
    found = sorted(path for path in files if is_meant(str(path)))
    if not found:
        raise ClusterError(f"no file matches {pattern} in {', '.join(map(str, data_dirs))}")
    return found
