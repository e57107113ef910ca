"""Judges a plan's history by everything that its run left behind, in a process of its own.

python -m benchmarks.judging.process ROWS PARTITIONS ROWS_OF_A_SHARE FILE prints its figures as
JSON. Fails unless the loss is found, and nothing else.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.judging.plan import Plan
from benchmarks.judging.replicas import evidence, logs
from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.sharing import judge_history, shares_of
from logquake.chaos.checkers.verdicts import Judgement, Verdict
from logquake.chaos.evidence.clients import Share
from logquake.chaos.evidence.evidence import Evidence

# The record was acked, was read by a member of a group and not by the last reader, and is in no
# log: that is a gap in each of them, too.
_LOST = frozenset({"durable", "readable", "repeatable read"})


def judged(plan: Plan, history: Path, rows_of_a_share: int) -> Judgement:
    return judged_beside(evidence(plan), plan, history, rows_of_a_share)[0]


def judged_beside(
    common: Evidence, plan: Plan, history: Path, rows_of_a_share: int
) -> tuple[Judgement, float]:
    """And the seconds of CPU that it took to make up the replicas meanwhile."""
    made_s = 0.0

    def beside(columns: Iterable[pa.RecordBatch], share: Share | None) -> Evidence:
        nonlocal made_s
        began_s = time.process_time()
        made = logs(plan, share)
        made_s += time.process_time() - began_s
        return replace(common, columns=columns, logs=made, share=share)

    shares = shares_of(history, plan.names, rows_of_a_share)
    return judge_history(history, beside, shares, Demands()), made_s


def check(plan: Plan, judgement: Judgement, expected: frozenset[str] = _LOST) -> None:
    """Raises BenchmarkError unless one record is lost, the one that was taken out."""
    broken = {each.invariant for each in judgement.rulings if each.verdict is Verdict.BROKEN}
    place = plan.name(plan.loss.partition), str(plan.loss.offset)
    is_told = all(any(name in each.text for each in judgement.violations) for name in place)
    if broken != expected or not is_told:
        raise BenchmarkError(f"{place} was lost; found was: {judgement}")


def _measure(plan: Plan, history: Path, rows_of_a_share: int) -> Figures:
    common = evidence(plan)
    began_s = time.process_time()
    judgement, made_s = judged_beside(common, plan, history, rows_of_a_share)
    seconds = time.process_time() - began_s - made_s
    check(plan, judgement)
    checkers = {each.invariant: each.seconds for each in judgement.rulings if each.seconds}
    return {
        "all": seconds,
        "reading": seconds - sum(checkers.values()),
        **checkers,
        "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
    }


if __name__ == "__main__":
    rows, partitions, share_rows = map(int, sys.argv[1:4])
    figures = _measure(Plan(rows, partitions), Path(sys.argv[4]), share_rows)
    print(json.dumps(dict(figures)))
