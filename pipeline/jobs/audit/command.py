"""`python -m logquake.pipeline audit`: its arguments, its progress, its last line."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.chaos.checkers.verdicts import Judgement, Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from logquake.pipeline.jobs.audit.runs import Audited


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "history", type=Path, metavar="RUN", help="a run's folder, or a Parquet file of rows"
    )
    parser.add_argument(
        "--cluster", type=Path, metavar="DIRECTORY", help="state of the cluster a file is about"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a page with plots")
    parser.set_defaults(run=_audit, is_short=False)


def _audit(spark: SparkSession, options: argparse.Namespace) -> int:
    """Exit status 1 if an invariant is broken, as `python -m logquake.chaos.checkers` has it."""
    from logquake.pipeline.jobs.audit.judging import audit
    from logquake.pipeline.jobs.audit.runs import audited

    run = audited(spark, options.history, options.cluster)
    _say(f"judging {run.name}")
    judgement = audit(run)
    print(judgement)
    if options.report is not None:
        _say("counting for the page")
        _write_page(spark, run, judgement, options.report)
    _say(_summary(run, judgement))
    return 1 if judgement.verdict is Verdict.BROKEN else 0


def _write_page(spark: SparkSession, run: Audited, judgement: Judgement, file: Path) -> None:
    from logquake.pipeline.jobs.audit.looking import look
    from logquake.pipeline.jobs.audit.page import page

    file.write_text(page(run.name, judgement, look(spark, run)))
    _say(f"the page is {file}")


def _summary(run: Audited, judgement: Judgement) -> str:
    counts = Counter(ruling.verdict for ruling in judgement.rulings)
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    return f"{run.rows.count():,} rows of {run.name}: {judgement.verdict}; of its invariants {told}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
