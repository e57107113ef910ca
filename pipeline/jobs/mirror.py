"""Topics into those of another cluster, of the same name and partitions, each record once.

How far it is stands in a checkpoint of Spark's, so that it goes on where it ended. Offsets are the
other cluster's own: transactions' markers take some. A query reads the partitions that have their
like in the target; where there are others, those are made, and another query goes on.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logquake.pipeline.asking import administering, consuming
from logquake.pipeline.jobs.client_config import add_config_argument
from logquake.pipeline.jobs.mirrored_topics import mirror_topics
from logquake.pipeline.jobs.pacing import paced
from logquake.pipeline.jobs.topic_arguments import (
    add_topic_arguments,
    of_partitions,
    reading_options,
)
from logquake.pipeline.jobs.transaction_time import most_rows
from logquake.pipeline.jobs.writing_arguments import (
    COPIED,
    add_writing_arguments,
    positive_number,
    target_keys,
    transaction_timeout_ms,
    writing_options,
)
from logquake.pipeline.options.clients import admin_keys
from logquake.pipeline.source.options import parse_options
from logquake.pipeline.source.planning import select
from logquake.wire.topic_partition import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_LOOK_EVERY_S = 2
# So often, at most, a query asks what there is.
_ASK_EVERY_S = 1

Places = Sequence[TopicPartition]
"""In order, each once."""


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
    parser.add_argument(
        "--batch-records",
        type=positive_number,
        metavar="N",
        help="that are committed at once, at most (what tasks surely write in time)",
    )
    parser.set_defaults(run=run, is_short=False)


def run(spark: SparkSession, arguments: argparse.Namespace) -> int:
    """Raises OptionError, BrokersError, and what a query raises."""
    watch = Watch(
        lambda: _look(arguments),
        arguments.every,
        time.monotonic,
        allow_data_loss=arguments.allow_data_loss,
    )
    rows = _mirrored(spark, arguments, watch, 0)
    while arguments.every:
        rows = _mirrored(spark, arguments, watch, rows)
    print(f"{rows:,} rows mirrored to {arguments.target_servers}")
    return 0


def _mirrored(spark: SparkSession, arguments: argparse.Namespace, watch: Watch, before: int) -> int:
    """How many rows there are by now, once all is there or there are other partitions to read."""
    if not watch.places:
        time.sleep(_LOOK_EVERY_S)
        watch.has_changed()
        return before
    places = watch.places
    _make_topics(arguments, places)
    query = start(spark, arguments, places)
    try:
        return follow(query, watch, before)
    finally:
        query.stop()


def _look(arguments: argparse.Namespace) -> Places:
    options = parse_options(reading_options(arguments))
    with consuming(options.consumer, "looking for topics") as consumer:
        return select(consumer, options)


def _make_topics(arguments: argparse.Namespace, places: Places) -> None:
    source = admin_keys(arguments.config | {"bootstrap.servers": arguments.bootstrap_servers})
    counts = Counter(place.topic for place in places)
    with (
        administering(source, "looking at topics") as there,
        administering(target_keys(arguments), "making topics") as here,
    ):
        mirror_topics(there, here, counts, arguments.topic_prefix)


def start(spark: SparkSession, arguments: argparse.Namespace, places: Places) -> StreamingQuery:
    """It reads these alone: for what appears later there is no place to be written to yet."""
    from pyspark.sql import functions

    at_once = min(len(places), spark.sparkContext.defaultParallelism)
    options = stream_options(arguments, places, at_once)
    source = spark.readStream.format("logquake").options(**options)
    topic = functions.concat(functions.lit(arguments.topic_prefix), functions.col("topic"))
    rows = source.load().withColumn("topic", topic).select(*COPIED)
    if arguments.rate:
        rows = rows.mapInArrow(paced(arguments.rate / at_once), rows.schema)
    sink = rows.writeStream.format("logquake").options(**writing_options(arguments))
    sink = sink.option("checkpointLocation", str(arguments.checkpoint.absolute()))
    if arguments.every:
        return sink.trigger(processingTime=f"{_ASK_EVERY_S} seconds").start()
    return sink.trigger(availableNow=True).start()


def stream_options(
    arguments: argparse.Namespace, places: Places, tasks_at_once: int
) -> dict[str, str]:
    """What the source is told. Raises OptionError.

    An epoch that is full follows the one before at once, another where --every is over.
    """
    rate = arguments.rate / tasks_at_once if arguments.rate else math.inf
    sure = most_rows(transaction_timeout_ms(arguments), rate)
    most = str(min(sure, arguments.batch_records or sure))
    waiting = {}
    if arguments.every:
        # Asked on the second, it is due though a clock says that it lacks some of one.
        delay_ms = (arguments.every - _ASK_EVERY_S / 2) * 1000
        waiting = {"minOffsetsPerTrigger": most, "maxTriggerDelay": f"{delay_ms:.0f}ms"}
    return {
        **of_partitions(reading_options(arguments), places),
        "startingOffsets": "earliest",
        "includeHeaders": "true",
        "maxOffsetsPerTrigger": most,
        **waiting,
    }


class Watch:
    """The partitions that are to be read, looked at again every so many seconds; without a number
    they stay as they were.
    """

    def __init__(
        self,
        look: Callable[[], Places],
        every_s: float | None,
        now_s: Callable[[], float],
        *,
        allow_data_loss: bool = False,
    ) -> None:
        self._look = look
        self._every_s = every_s
        self._now_s = now_s
        self._goes_on = every_s is not None and allow_data_loss
        self._looked_s = now_s()
        self.places = look()

    def has_changed(self) -> bool:
        """Raises BrokersError."""
        if self._every_s is None or self._now_s() - self._looked_s < self._every_s:
            return False
        before, self._looked_s = self.places, self._now_s()
        self.places = self._look()
        return self.places != before

    def has_lost_some(self) -> bool:
        """Partitions are gone, and it is allowed to go on without. Raises BrokersError."""
        if not self._goes_on:
            return False
        before, self.places = self.places, self._look()
        return not {*before} <= {*self.places}


def follow(query: StreamingQuery, watch: Watch, before: int) -> int:
    """How many rows it has taken, with those ``before`` it, told as it goes; until it has ended, or
    there are other partitions and a batch is through: one that is stopped would begin anew, for
    ever where batches take longer than the next partitions to come. Raises what ends the query,
    unless that is a loss that is allowed.
    """
    from pyspark.errors import StreamingQueryException

    told: dict[int, int] = {}
    rows = before
    is_to_end = is_over = False
    while not is_over:
        try:
            is_over = bool(query.awaitTermination(_LOOK_EVERY_S))
        except StreamingQueryException:
            if not watch.has_lost_some():
                raise
            is_over = True
        found: list[Any] = query.recentProgress
        new = {each["batchId"]: each["numInputRows"] for each in found}
        more = sum(count - told.get(batch, 0) for batch, count in new.items())
        told = new
        if more:
            rows += more
            print(f"mirror: {rows:,} rows", file=sys.stderr, flush=True)
        is_over |= is_to_end and (bool(more) or not _is_at_work(query))
        is_to_end = is_to_end or watch.has_changed()
    return rows


def _is_at_work(query: StreamingQuery) -> bool:
    status: Mapping[str, Any] = query.status
    return bool(status["isTriggerActive"] and status["isDataAvailable"])
