"""`python -m logquake.pipeline lake`: its arguments, its progress, its last line."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.pipeline.jobs.client_config import add_config_argument
from logquake.pipeline.jobs.lake.compacting import CompactionSettings
from logquake.pipeline.jobs.lake.lake import Lake, LakeSettings
from logquake.pipeline.jobs.lake.ledger import Ledger, Step, opened
from logquake.pipeline.jobs.lake.report import summary, table
from logquake.pipeline.jobs.lake.shape import Shape
from logquake.pipeline.jobs.topic_arguments import add_topic_arguments, reading_options
from logquake.pipeline.jobs.writing_arguments import positive_number

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def add_arguments(parser: argparse.ArgumentParser) -> None:
    defaults, compaction = LakeSettings({}), CompactionSettings()
    parser.add_argument("bootstrap_servers", metavar="BOOTSTRAP_SERVERS")
    parser.add_argument("lake", type=Path, metavar="FOLDER", help="made where there is none")
    add_topic_arguments(parser)
    add_config_argument(parser, "--command-config", "config")
    parser.add_argument(
        "--json",
        default="",
        metavar="SCHEMA",
        help="values are JSON of this schema (id BIGINT, ...)",
    )
    parser.add_argument(
        "--batch-records",
        type=positive_number,
        default=defaults.batch_records,
        metavar="N",
        help="that are committed at once (%(default)s)",
    )
    parser.add_argument(
        "--most-files",
        type=positive_number,
        default=compaction.most_files,
        metavar="N",
        help="of an hour before its small files are merged (%(default)s)",
    )
    parser.add_argument(
        "--every",
        type=positive_number,
        metavar="SECONDS",
        help="go on, and look again after so long",
    )
    parser.add_argument(
        "--report", action="store_true", help="print the offsets of each partition too"
    )
    parser.set_defaults(run=run, is_short=False)


def run(spark: SparkSession, options: argparse.Namespace) -> int:
    """Raises what `Lake` does."""
    with opened(options.lake, _tell) as ledger:
        lake = Lake(spark, _settings(options), ledger)
        _fill(lake, ledger, options)
        while options.every:
            time.sleep(options.every)
            _fill(lake, ledger, options)
    return 0


def _fill(lake: Lake, ledger: Ledger, options: argparse.Namespace) -> None:
    before = ledger.state()
    state = lake.fill()
    if options.report:
        print(*table(state), sep="\n")
    print(summary(options.lake, state, state.rows - (before.rows if before else 0)), flush=True)


def _settings(options: argparse.Namespace) -> LakeSettings:
    return LakeSettings(
        source=reading_options(options),
        shape=Shape(options.json),
        batch_records=options.batch_records,
        compaction=CompactionSettings(most_files=options.most_files),
    )


def _tell(step: Step) -> None:
    if step in (Step.WRITTEN, Step.COMMITTED):
        print(f"lake: {step.value}", file=sys.stderr, flush=True)
