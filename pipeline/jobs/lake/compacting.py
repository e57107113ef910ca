"""Which small files become one: those of an hour that has many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from logquake.pipeline.jobs.lake.staged import parquet_in


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    # How many files an hour of a topic may have before they are merged. Fewer of them are read
    # faster; merging reads and writes all of their rows once more.
    most_files: int = 8
    # What a merged file shall have; larger ones than half of that are left alone.
    file_bytes: int = 128 * 1024 * 1024


class Merge(NamedTuple):
    """``files`` of one topic and hour become ``pieces`` of them."""

    files: list[Path]
    pieces: int


def merges(root: Path, settings: CompactionSettings) -> Iterator[Merge]:
    small: defaultdict[Path, list[Path]] = defaultdict(list)
    for path in parquet_in(root):
        if path.stat().st_size < settings.file_bytes / 2:
            small[path.parent].append(path)
    for _, files in sorted(small.items()):
        if len(files) > settings.most_files:
            whole = sum(path.stat().st_size for path in files)
            yield Merge(files, -(-whole // settings.file_bytes))
