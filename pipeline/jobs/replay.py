"""A lake's rows back into topics: keys, times, headers, partitions, and the order in them.

A run with a name writes each row once, however often it is started again under that name: see
docs/spark.md on `transactionalIdPrefix`. Rows that the lake has got since are not to be added to
such a run, so that it is told (`ExactlyOnceError`): a replay of them is another one, of other rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.pipeline.asking import administering
from logquake.pipeline.jobs.client_config import add_config_argument
from logquake.pipeline.jobs.lake.ledger import LakeError, Ledger
from logquake.pipeline.jobs.lake.shape import Shape
from logquake.pipeline.jobs.lake.state import LakeState
from logquake.pipeline.jobs.pacing import paced
from logquake.pipeline.jobs.target_topics import make_topics
from logquake.pipeline.jobs.writing_arguments import (
    add_writing_arguments,
    target_keys,
    writing_options,
)
from logquake.pipeline.options.values import OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST_TASKS = 64
_COLUMNS = ("key", "value", "headers", "timestamp", "topic", "partition")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lake", type=Path, metavar="FOLDER")
    parser.add_argument("target_servers", metavar="BOOTSTRAP_SERVERS")
    parser.add_argument(
        "--where", metavar="SQL", help="these rows alone (date = '2026-11-23' and topic = 'orders')"
    )
    parser.add_argument(
        "--name", metavar="TEXT", help="what a run is known by that may be started again"
    )
    add_config_argument(parser, "--command-config", "target_config")
    add_writing_arguments(parser)
    parser.set_defaults(run=run, is_short=False)


def run(spark: SparkSession, arguments: argparse.Namespace) -> int:
    """Raises LakeError, OptionError, BrokersError, and what a Spark job raises."""
    if arguments.name and arguments.at_least_once:
        raise OptionError("--name is for rows that are written once: not with --at-least-once")
    partitions = dict(_partitions(_raw_state(arguments.lake), arguments.topic_prefix))
    with administering(target_keys(arguments), "making topics") as admin:
        make_topics(admin, partitions)
    rows = _rows(spark, arguments.lake, arguments.where)
    count = rows.count()
    print(f"replay: {count:,} rows", flush=True)
    _write(rows, partitions, arguments)
    print(f"{count:,} rows of {arguments.lake} written to {', '.join(sorted(partitions))}")
    return 0


def _raw_state(lake: Path) -> LakeState:
    state = Ledger(lake, lambda _: None).state()
    if state is None:
        raise LakeError(f"{lake} is no lake")
    if state.shape != Shape().name:
        raise LakeError(f"{lake} has rows of {state.shape}: what was not raw cannot be replayed")
    return state


def _partitions(state: LakeState, prefix: str) -> Iterator[tuple[str, int]]:
    """How many each topic has; the highest comes last."""
    for at in sorted(state.partitions):
        yield f"{prefix}{at.topic}", at.partition + 1


def _rows(spark: SparkSession, lake: Path, where: str | None) -> DataFrame:
    # A topic's name stays as it is, whatever number it looks like.
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    rows = spark.read.parquet(str(lake))
    return rows.where(where) if where else rows


def tasks_of(partitions: Mapping[str, int]) -> int:
    """As many wherever a run is started again: a task of another number has other rows."""
    return min(_MOST_TASKS, sum(partitions.values()))


def _write(rows: DataFrame, partitions: dict[str, int], arguments: argparse.Namespace) -> None:
    """A partition is one task's, so that it stays in order."""
    from pyspark.sql import functions

    tasks = tasks_of(partitions)
    topic = functions.concat(functions.lit(arguments.topic_prefix), functions.col("topic"))
    in_order = (
        rows.withColumn("topic", topic)
        .repartition(tasks, "topic", "partition")
        .sortWithinPartitions("topic", "partition", "offset")
        .select(*_COLUMNS)
    )
    if arguments.rate:
        at_once = min(tasks, rows.sparkSession.sparkContext.defaultParallelism)
        in_order = in_order.mapInArrow(paced(arguments.rate / at_once), in_order.schema)
    options = writing_options(arguments, arguments.name)
    in_order.write.format("logquake").mode("append").options(**options).save()
