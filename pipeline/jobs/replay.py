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
from logquake.pipeline.jobs.lake.ledger import LakeError, settled
from logquake.pipeline.jobs.lake.shape import Shape
from logquake.pipeline.jobs.lake.state import LakeState
from logquake.pipeline.jobs.pacing import paced
from logquake.pipeline.jobs.target_topics import make_topics
from logquake.pipeline.jobs.transaction_time import check_rate
from logquake.pipeline.jobs.writing_arguments import (
    COPIED,
    add_writing_arguments,
    target_keys,
    transaction_timeout_ms,
    writing_options,
)
from logquake.pipeline.options.values import OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST_TASKS = 64
_PLACE = ("topic", "partition")


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
    with settled(arguments.lake) as state:
        if state.shape != Shape().name:
            raise LakeError(
                f"{arguments.lake} has rows of {state.shape}: what was not raw cannot be replayed"
            )
        _replay(spark, dict(_partitions(state, arguments.topic_prefix)), arguments)
    return 0


def _replay(
    spark: SparkSession, partitions: Mapping[str, int], arguments: argparse.Namespace
) -> None:
    with administering(target_keys(arguments), "making topics") as admin:
        make_topics(admin, partitions)
    rows = _rows(spark, arguments)
    tasks = tasks_of(partitions)
    at_once = min(tasks, spark.sparkContext.defaultParallelism)
    counts = _rows_by_task(rows, tasks)
    if arguments.rate and not arguments.at_least_once:
        timeout_ms = transaction_timeout_ms(arguments)
        check_rate(max(counts, default=0), arguments.rate, at_once, timeout_ms)
    print(f"replay: {sum(counts):,} rows", flush=True)
    _write(rows, tasks, at_once, arguments)
    print(f"{sum(counts):,} rows of {arguments.lake} written to {', '.join(sorted(partitions))}")


def _partitions(state: LakeState, prefix: str) -> Iterator[tuple[str, int]]:
    """How many each topic has; the highest comes last."""
    for at in sorted(state.partitions):
        yield f"{prefix}{at.topic}", at.partition + 1


def _rows(spark: SparkSession, arguments: argparse.Namespace) -> DataFrame:
    """With the topics that they are written to."""
    from pyspark.sql import functions

    # A topic's name stays as it is, whatever number it looks like.
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    rows = spark.read.parquet(str(arguments.lake))
    if arguments.where:
        rows = rows.where(arguments.where)
    topic = functions.concat(functions.lit(arguments.topic_prefix), functions.col("topic"))
    return rows.withColumn("topic", topic)


def tasks_of(partitions: Mapping[str, int]) -> int:
    """As many wherever a run is started again: a task of another number has other rows."""
    return min(_MOST_TASKS, sum(partitions.values()))


def _rows_by_task(rows: DataFrame, tasks: int) -> list[int]:
    """How many each has that has any: as Spark's HashPartitioning shares them out to `_write`."""
    from pyspark.sql import functions

    task = functions.pmod(functions.hash(*_PLACE), functions.lit(tasks))
    return [row["count"] for row in rows.groupBy(task.alias("task")).count().collect()]


def _write(rows: DataFrame, tasks: int, at_once: int, arguments: argparse.Namespace) -> None:
    """A partition is one task's, so that it stays in order."""
    in_order = (
        rows.repartition(tasks, *_PLACE).sortWithinPartitions(*_PLACE, "offset").select(*COPIED)
    )
    if arguments.rate:
        in_order = in_order.mapInArrow(paced(arguments.rate / at_once), in_order.schema)
    options = writing_options(arguments, arguments.name)
    in_order.write.format("logquake").mode("append").options(**options).save()
