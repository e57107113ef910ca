"""Which works there are, how large they are, and in what order they are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.figures import Result
from benchmarks.rounds import Case, Plan, measure
from benchmarks.storage.append import append_cases
from benchmarks.storage.batches import MB
from benchmarks.storage.compaction import compaction_cases
from benchmarks.storage.index_load import index_load_cases
from benchmarks.storage.lookup import lookup_cases
from benchmarks.storage.partitions import partition_cases
from benchmarks.storage.recovery import recovery_cases
from benchmarks.storage.sides import SIDES, Side


class Work(StrEnum):
    APPEND = "append"
    RECOVERY = "recovery"
    COMPACTION = "compaction"
    LOOKUP = "lookup"
    INDEXES = "indexes"
    PARTITIONS = "partitions"


@dataclass(frozen=True, slots=True)
class Scale:
    """Large enough for steady medians, small enough for all of it in two minutes."""

    append_batches: int = 2_000
    recovery_bytes: int = 256 * MB
    compaction_bytes: int = 32 * MB
    segments: int = 1_000
    index_entries: int = 65_536  # 1 GiB in batches of 16 KiB
    partitions: int = 10_000


def measure_storage(works: Sequence[Work], folder: Path, rounds: int, scale: Scale) -> list[Result]:
    """Writes some hundred MB below folder, and removes them. Raises BenchmarkError."""
    results: list[Result] = []
    for work in works:
        # What partitions cost needs no median, and every round is two new processes.
        plan = Plan(1 if work is Work.PARTITIONS else rounds)
        results += measure(_CASES[work](folder, scale), SIDES, plan)
    return results


_CASES: dict[Work, Callable[[Path, Scale], Iterator[Case[Side]]]] = {
    Work.APPEND: lambda folder, scale: append_cases(folder, scale.append_batches),
    Work.RECOVERY: lambda folder, scale: recovery_cases(folder, scale.recovery_bytes),
    Work.COMPACTION: lambda folder, scale: compaction_cases(folder, scale.compaction_bytes),
    Work.LOOKUP: lambda folder, scale: lookup_cases(folder, scale.segments),
    Work.INDEXES: lambda folder, scale: index_load_cases(folder, scale.index_entries),
    Work.PARTITIONS: lambda folder, scale: partition_cases(folder, scale.partitions),
}
