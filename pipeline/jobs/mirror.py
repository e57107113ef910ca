"""Topics into those of another cluster, of the same name and partitions, each record once.

How far it is stands in a checkpoint of Spark's, so that it goes on where it ended. Offsets are the
other cluster's own: transactions' markers take some.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logquake.pipeline.asking import administering, consuming
from logquake.pipeline.jobs.client_config import add_config_argument
from logquake.pipeline.jobs.pacing import paced
from logquake.pipeline.jobs.target_topics import make_topics
from logquake.pipeline.jobs.topic_arguments import add_topic_arguments, reading_options
from logquake.pipeline.jobs.writing_arguments import (
    add_writing_arguments,
    positive_number,
    target_keys,
    writing_options,
)
from logquake.pipeline.source.options import parse_options
from logquake.pipeline.source.planning import select

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_COLUMNS = ("key", "value", "headers", "timestamp", "topic", "partition")
_LOOK_EVERY_S = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bootstrap_servers", metavar="FROM_SERVERS")
    parser.add_argument("target_servers", metavar="TO_SERVERS")
    parser.add_argument("checkpoint", type=Path, metavar="FOLDER", help="how far it is; made")
    add_topic_arguments(parser)
    add_config_argument(parser, "--from-config", "config")
    add_config_argument(parser, "--to-config", "target_config")
    add_writing_arguments(parser)
    parser.add_argument(
        "--every", type=positive_number, metavar="SECONDS", help="go on, and look again so often"
    )
    parser.set_defaults(run=run, is_short=False)


def run(spark: SparkSession, arguments: argparse.Namespace) -> int:
    """Raises OptionError, BrokersError, and what a query raises."""
    _make_topics(arguments)
    query = _start(spark, arguments)
    try:
        rows = follow(query)
    finally:
        query.stop()
    print(f"{rows:,} rows mirrored to {arguments.target_servers}")
    return 0


def _make_topics(arguments: argparse.Namespace) -> None:
    options = parse_options(reading_options(arguments))
    with consuming(options.consumer, "looking for topics") as consumer:
        selected = Counter(place.topic for place in select(consumer, options))
    wanted = {f"{arguments.topic_prefix}{topic}": count for topic, count in selected.items()}
    with administering(target_keys(arguments), "making topics") as admin:
        make_topics(admin, wanted)


def _start(spark: SparkSession, arguments: argparse.Namespace) -> StreamingQuery:
    from pyspark.sql import functions

    source = spark.readStream.format("logquake").options(**reading_options(arguments))
    source = source.option("startingOffsets", "earliest").option("includeHeaders", "true")
    topic = functions.concat(functions.lit(arguments.topic_prefix), functions.col("topic"))
    rows = source.load().withColumn("topic", topic).select(*_COLUMNS)
    if arguments.rate:
        cores = spark.sparkContext.defaultParallelism
        rows = rows.mapInArrow(paced(arguments.rate / cores), rows.schema)
    sink = rows.writeStream.format("logquake").options(**writing_options(arguments))
    sink = sink.option("checkpointLocation", str(arguments.checkpoint.absolute()))
    if arguments.every:
        return sink.trigger(processingTime=f"{arguments.every} seconds").start()
    return sink.trigger(availableNow=True).start()


def follow(query: StreamingQuery) -> int:
    """How many rows it has taken, told as it goes. Raises what ends the query."""
    rows: dict[int, int] = {}
    is_over = False
    while not is_over:
        is_over = bool(query.awaitTermination(_LOOK_EVERY_S))
        found: list[Any] = query.recentProgress
        new = {each["batchId"]: each["numInputRows"] for each in found}
        if any(count != rows.get(batch, 0) for batch, count in new.items()):
            rows |= new
            print(f"mirror: {sum(rows.values()):,} rows", file=sys.stderr, flush=True)
    return sum(rows.values())
