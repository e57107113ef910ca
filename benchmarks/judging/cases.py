"""Judging by the length of the history, in one process and by Spark."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures, Result
from benchmarks.judging import process
from benchmarks.judging.plan import Plan
from benchmarks.judging.rows import write_history
from benchmarks.judging.watched import watch

SIZES = (1_000_000, 10_000_000)
_TARGET, _SPARK = "one process", "spark"
_SECONDS_A_ROW, _LEAST_S = 200e-6, 60.0  # bounds, for a machine that does much else


def measure_judging(
    sizes: Sequence[int], folder: Path, partitions: int, rows_of_a_share: int, *, spark: bool
) -> list[Result]:
    """Writes some 20 bytes a row below folder, and removes them. Raises BenchmarkError."""
    results: list[Result] = []
    for rows in sizes:
        plan = Plan(rows, partitions)
        with tempfile.TemporaryDirectory(dir=folder) as made:
            history = Path(made) / "history.parquet"
            count = write_history(plan, history)
            if spark:
                results.append(Result(_named(count), _SPARK, 1, _by_spark(plan, history, count)))
                continue
            figures = _alone(plan, history, rows_of_a_share)
            results.append(Result(_named(count), _TARGET, 1, _of_all(figures, count)))
            results += [
                Result(f"{_named(count)}: {name}", _TARGET, 1, _rate(seconds, count))
                for name, seconds in figures.items()
                if name not in ("all", "MB")
            ]
    return results


def _alone(plan: Plan, history: Path, rows_of_a_share: int) -> Figures:
    numbers = map(str, (plan.rows, plan.partitions, rows_of_a_share))
    done = subprocess.run(
        [sys.executable, "-m", process.__name__, *numbers, str(history)],
        stdout=subprocess.PIPE,
        check=False,
        timeout=_LEAST_S + plan.rows * _SECONDS_A_ROW,
    )
    if done.returncode:
        raise BenchmarkError(f"judging {plan.rows} rows: {done.returncode}")
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _by_spark(plan: Plan, history: Path, count: int) -> Figures:
    """By the command itself, over the history alone: nobody made files of replicas."""
    command = ["-m", "logquake.pipeline", "audit", str(history)]
    done = watch(command, _LEAST_S + plan.rows * _SECONDS_A_ROW)
    is_told = "2 readable: broken\n" in done.output and f"offset {plan.loss.offset} " in done.output
    if done.status != 1 or not is_told or done.output.count(": broken") != 2:
        raise BenchmarkError(f"offset {plan.loss.offset} was lost; found was: {done.output}")
    return {**_rate(done.cpu_s, count), "MB": done.bytes / 1e6}


def _of_all(figures: Figures, count: int) -> Figures:
    return {**_rate(figures["all"], count), "MB": figures["MB"]}


def _rate(seconds: float, count: int) -> Figures:
    return {"million rows/s": count / seconds / 1e6, "CPU s": seconds}


def _named(count: int) -> str:
    return f"judging {count:,} rows"
