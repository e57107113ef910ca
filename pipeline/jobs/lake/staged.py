"""What Spark has written of a batch: where each file belongs, and what is in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from logquake.pipeline.jobs.lake.ledger import LakeError, Move
from logquake.pipeline.jobs.lake.shape import MALFORMED, Shape
from logquake.pipeline.jobs.lake.state import Covered, LakeState
from logquake.pipeline.source.planning import OffsetRange
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class StagedFile:
    """`folder` is `topic=orders/date=2026-11-23/hour=13`; `rows` are counted by partition."""

    path: Path
    folder: Path
    rows: Mapping[int, int]
    malformed: int

    @property
    def topic(self) -> str:
        return layout_of(self.folder)["topic"]

    @property
    def hour(self) -> str:
        layout = layout_of(self.folder)
        return f"{layout['date']}T{int(layout['hour']):02}"


def staged_files(staging: Path, shape: Shape) -> list[StagedFile]:
    """What is on the disk counts, not what was to be written."""
    return files_at(parquet_in(staging), staging, shape)


def files_at(paths: Iterable[Path], root: Path, shape: Shape) -> list[StagedFile]:
    return [_read(path, path.parent.relative_to(root), shape) for path in paths]


def check_same_rows(replaced: Iterable[StagedFile], files: Iterable[StagedFile]) -> None:
    """Of those that take their places: as many of each partition. Raises LakeError."""
    had, have = _totals(replaced), _totals(files)
    for at, hour in had | have:
        before, now = had[at, hour], have[at, hour]
        if before != now:
            raise LakeError(f"{at} has {before:,} rows of {hour}, and merged they are {now:,}")


def layout_of(folder: Path) -> dict[str, str]:
    """What the names of the folders say, from the lake's own downwards."""
    return {name: value for name, _, value in (part.partition("=") for part in folder.parts)}


def parquet_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("topic=*/date=*/hour=*/*.parquet"))


def _read(path: Path, folder: Path, shape: Shape) -> StagedFile:
    import pyarrow.parquet as parquet

    columns = [shape.partition] + ([MALFORMED] if shape.schema else [])
    found = parquet.ParquetFile(path).read(columns)
    counts = found.column(shape.partition).value_counts().to_pylist()
    rows = {each["values"]: each["counts"] for each in counts}
    malformed = len(found) - found.column(MALFORMED).null_count if shape.schema else 0
    return StagedFile(path, folder, rows, malformed)


def moves_of(files: Sequence[StagedFile], root: Path, batch: int) -> list[Move]:
    """No two batches have a name in common, so that nothing is ever overwritten."""
    return [
        Move(
            str(file.path.relative_to(root)),
            str(file.folder / f"{batch:012}-{index:05}.parquet"),
        )
        for index, file in enumerate(files)
    ]


def after(
    state: LakeState, ranges: Iterable[OffsetRange], files: Sequence[StagedFile]
) -> LakeState:
    """How far the lake is with them."""
    counts = list(_counts(files))
    partitions = dict(state.partitions)
    for read in ranges:
        at = TopicPartition(read.topic, read.partition)
        partitions[at] = _with_range(partitions.get(at, Covered(read.start, read.start)), read)
    late = sum(rows for at, hour, rows in counts if hour < partitions[at].newest_hour)
    for at, hour, rows in counts:
        covered = partitions[at]
        newest = max(hour, covered.newest_hour)
        partitions[at] = replace(covered, rows=covered.rows + rows, newest_hour=newest)
    return replace(
        state,
        batch=state.batch + 1,
        late=state.late + late,
        malformed=state.malformed + sum(file.malformed for file in files),
        partitions=partitions,
    )


def _with_range(covered: Covered, read: OffsetRange) -> Covered:
    lost = max(0, read.start - covered.until)
    return replace(covered, until=read.end, lost=covered.lost + lost)


def _totals(files: Iterable[StagedFile]) -> Counter[tuple[TopicPartition, str]]:
    totals: Counter[tuple[TopicPartition, str]] = Counter()
    for at, hour, rows in _counts(files):
        totals[at, hour] += rows
    return totals


def _counts(files: Iterable[StagedFile]) -> Iterator[tuple[TopicPartition, str, int]]:
    for file in files:
        for partition, rows in file.rows.items():
            yield TopicPartition(file.topic, partition), file.hour, rows
