"""What a lake says of itself: its rows, and the offsets that they cover."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from logquake.pipeline.jobs.lake.staged import parquet_in
from logquake.pipeline.jobs.lake.state import LakeState

_ROW = "{:<32} {:>9} {:>14} {:>14} {:>14} {:>12} {:>10}"


def summary(root: Path, state: LakeState, new_rows: int) -> str:
    """The last line of a run."""
    files = parquet_in(root)
    topics = sorted({at.topic for at in state.partitions})
    hours = {path.parent for path in files}
    where = f"{len(files):,} files of {len(hours):,} hours"
    late = f"{state.late:,} of them came late, {state.malformed:,} malformed"
    whose = ", ".join(topics) or "no topic"
    return f"{new_rows:,} rows new; {root} has {state.rows:,} rows of {whose} in {where}, {late}"


def table(state: LakeState) -> Iterator[str]:
    """A line a partition."""
    yield _ROW.format("topic", "partition", "first", "until", "rows", "without row", "lost")
    for at, covered in sorted(state.partitions.items()):
        without = covered.until - covered.first - covered.rows - covered.lost
        numbers = (covered.first, covered.until, covered.rows, without, covered.lost)
        yield _ROW.format(at.topic, at.partition, *(f"{number:,}" for number in numbers))
