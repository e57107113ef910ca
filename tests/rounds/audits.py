"""Runs with planted bugs, judged in one process as each ends and by Spark afterwards: alike?

The bugs in turn, those after the last with another seed. Runs that the folder has already are not
played again. What is held against each other is each invariant's verdict, why it was not judged,
and each violation with its chain.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from logquake.chaos.checkers.verdicts import Judgement, Ruling, Verdict, Violation
from logquake.chaos.hunts.hunting import hunt_bug, hunted
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import RunJudgement
from logquake.chaos.runs.screen import NoScreen
from logquake.planted.bug import PlantedBug

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Plan:
    runs: int
    seed: int  # of the first run of each bug
    evidence: Path

    def planned(self) -> Iterator[tuple[RunFolder, PlantedBug, int]]:
        bugs = hunted()
        for at in range(self.runs):
            bug, seed = bugs[at % len(bugs)], self.seed + at // len(bugs)
            yield RunFolder((self.evidence / f"{bug.name}-{seed}").resolve()), bug, seed


class Compared(NamedTuple):
    """``differing`` are the invariants of one run that were judged otherwise."""

    run: str
    broken: Sequence[str]
    differing: Sequence[str]

    def __str__(self) -> str:
        said = f"judged otherwise: {', '.join(self.differing)}" if self.differing else "alike"
        return f"{self.run}: broken is {', '.join(self.broken) or 'nothing'}; {said}"


@dataclass(slots=True)
class Outcome:
    runs: list[Compared] = field(default_factory=list)
    verdicts: dict[str, Counter[Verdict]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def are_alike(self) -> bool:
        return not any(each.differing for each in self.runs)

    def __str__(self) -> str:
        alike = sum(not each.differing for each in self.runs)
        broke = sum(bool(each.broken) for each in self.runs)
        return "\n".join(
            (
                *(f"{name}: {_counted(of_one)}" for name, of_one in self.verdicts.items()),
                f"{len(self.runs)} runs, of which {broke} broke; judged alike: {alike}",
            )
        )


def _counted(verdicts: Counter[Verdict]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))


def run(plan: Plan) -> Outcome:
    folders = []
    for folder, bug, seed in plan.planned():
        if not folder.verdict.is_file():
            print(hunt_bug(bug, folder, NoScreen(), seed), flush=True)
        folders.append(folder)
    return compared(folders)


def compared(folders: Sequence[RunFolder]) -> Outcome:
    """Runs that were judged as they ended, judged by Spark."""
    from logquake.pipeline.session import spark_session

    spark = spark_session("logquake audits", short=True)
    outcome = Outcome()
    try:
        for folder in folders:
            outcome.runs.append(_compared(spark, folder, outcome.verdicts))
            print(outcome.runs[-1], flush=True)
    finally:
        spark.stop()
    return outcome


def _compared(
    spark: SparkSession, folder: RunFolder, verdicts: dict[str, Counter[Verdict]]
) -> Compared:
    from logquake.pipeline.jobs.audit.judging import audit
    from logquake.pipeline.jobs.audit.runs import audited

    here = RunJudgement.from_json(json.loads(folder.verdict.read_text()))
    run = audited(spark, folder.root)
    by_spark = audit(run)
    run.rows.unpersist()
    for ruling in by_spark.rulings:
        verdicts[ruling.invariant][ruling.verdict] += 1
    broken = [one.invariant for one in here.rulings if one.verdict is Verdict.BROKEN]
    return Compared(folder.root.name, broken, list(differing(here, by_spark)))


def differing(here: RunJudgement, by_spark: Judgement) -> Iterator[str]:
    for one, other in zip(here.rulings, by_spark.rulings, strict=True):
        if _said(one) != _said(other):
            yield one.invariant
    if set(here.notes) != set(by_spark.notes):
        yield "losses that no promise covers"


def _said(ruling: Ruling) -> tuple[int, str, Verdict, str, bool, frozenset[Violation]]:
    """Of more violations than are told, which are told is chance."""
    told = frozenset[Violation]() if ruling.more else frozenset(ruling.violations)
    return ruling.number, ruling.invariant, ruling.verdict, ruling.why, ruling.more, told
