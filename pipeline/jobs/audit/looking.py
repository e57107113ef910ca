"""What the page of an audit shows, counted by Spark: however long the history, little is collected.

Time goes by in steps of a 240th of the run; of each there is a count, or what was seen last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from logquake.chaos.evidence.evidence import journals_of, partitions_kept
from logquake.chaos.history.parquet import SCHEMA, rows_of
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.report.series import BUCKET_S, ELECTIONS, MICROSECONDS, Bucket, Series, gather
from logquake.pipeline.formats.segments import find_segments
from logquake.pipeline.jobs.audit.runs import Audited
from logquake.pipeline.jobs.audit.standings import Standings, lags_of_readers, lags_of_replicas

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_STEPS = 240
_SILENCE_US = 1_000_000  # from an ack to the next: a shorter time is no outage
_PARTS = 200  # of a partition's offsets, each told as one
_WHO = "coalesce(`group`, process)"
_FAULTS = (Kind.FAULT_BEGUN, Kind.FAULT_ENDED)
_CONTENT = "key, value, epoch, timestamp, producerId, producerEpoch, sequence, control"
_OF_RECORDS = (
    "concat(topic, '-', partition) name",
    "broker",
    "offset",
    "crcOk",
    f"xxhash64({_CONTENT}) content",
    # As sends are known by (chaos/history/numbers.py), but for those whose header tells it.
    "try_cast(rtrim(cast(value as string)) as bigint) number",
)


class Silence(NamedTuple):
    partition: str
    begins_s: float
    ends_s: float


class Part(NamedTuple):
    """Of a partition's offsets, from ``begin`` on; how many of them its replicas have alike, some
    alone have, and are not the same everywhere.
    """

    partition: str
    begin: int
    alike: int
    on_some: int
    differing: int
    damaged: int


@dataclass(frozen=True)
class Looks:
    """``again`` by group or reader: how many records it was handed that had been handed to it, by
    seconds; ``stored_twice`` by partition.
    """

    series: Series
    reader_lags: Mapping[str, Standings]
    replica_lags: Mapping[str, Standings]
    silences: Sequence[Silence]
    again: Mapping[str, Sequence[tuple[float, int]]]
    stored_twice: Mapping[str, int]
    parts: Sequence[Part]


def look(spark: SparkSession, run: Audited) -> Looks:
    """Raises HistoryError, OSError, and what a Spark job raises (PySparkException)."""
    counting = _Counting(run.rows)
    looks = counting.looks()
    replicas = Replicas(spark, run.root)
    return Looks(
        counting.series([*looks, *_elections(run)]),
        lags_of_readers(looks, counting.handed_out(), counting.ends(), counting.seconds),
        lags_of_replicas(looks, counting.seconds),
        counting.silences(),
        counting.again(),
        replicas.stored_twice(),
        replicas.parts(),
    )


def _elections(run: Audited) -> list[Row]:
    if run.root is None:
        return []
    return [row for row in journals_of(run.root) if row.what in ELECTIONS]


class _Counting:
    """Of the rows of clients and the harness."""

    def __init__(self, rows: DataFrame) -> None:
        from pyspark.sql import functions

        self._rows = rows
        (bounds,) = rows.agg(
            functions.min("at_us").alias("first"), functions.max("at_us").alias("last")
        ).collect()
        self._began_us = bounds["first"] or 0
        self._ended_us = bounds["last"] or 0
        lasted_us = self._ended_us - self._began_us
        self._step_us = max(int(BUCKET_S * MICROSECONDS), lasted_us // _STEPS)

    def seconds(self, at_us: int) -> float:
        return max(0, at_us - self._began_us) / MICROSECONDS

    def _step(self, width_us: int | None = None) -> Column:
        from pyspark.sql import functions

        width = self._step_us if width_us is None else width_us
        passed = functions.col("at_us") - self._began_us
        return functions.floor(passed / width).cast("bigint").alias("step")

    def _of(self, *kinds: str) -> DataFrame:
        from pyspark.sql import functions

        return self._rows.where(functions.col("what").isin(*map(str, kinds)))

    def looks(self) -> list[Row]:
        """At each partition, the last of each step; by time."""
        from pyspark.sql import functions

        whole = functions.struct(*SCHEMA.names)
        last = functions.max_by(whole, "at_us").alias("last")
        seen = self._of(Kind.OBSERVED).groupBy("subject", self._step()).agg(last)
        return _as_rows(seen.select("last.*"))

    def series(self, others: Sequence[Row]) -> Series:
        """``others`` are looks, and what journals tell."""
        began = Row(self._began_us, "", 0, Kind.BEGAN, "")
        rows = sorted([*_as_rows(self._of(*_FAULTS)), *others], key=lambda row: row.at_us)
        told = gather([began, *(row for row in rows if row.at_us >= self._began_us)])
        lasted_s = max(self.seconds(self._ended_us), BUCKET_S)
        return replace(told, buckets=self._buckets(), duration_s=lasted_s)

    def _buckets(self) -> list[Bucket]:
        from pyspark.sql import functions

        answers = self._of(Kind.ACKED, Kind.REFUSED, Kind.UNKNOWN)
        is_ack = functions.col("what") == str(Kind.ACKED)
        counted = (
            answers.groupBy(self._step(int(BUCKET_S * MICROSECONDS)))
            .agg(functions.count_if(is_ack).alias("acked"), functions.count("*").alias("all"))
            .collect()
        )
        found = {row["step"]: Bucket(row["acked"], row["all"] - row["acked"]) for row in counted}
        return [found.get(step, Bucket()) for step in range(max(found, default=-1) + 1)]

    def handed_out(self) -> list[tuple[str, str, int, int]]:
        """Who was at which offset of which partition, and when in microseconds."""
        from pyspark.sql import functions

        position = functions.expr("`offset` + size(`values`)")
        polls = self._of(Kind.POLLED).groupBy(
            functions.expr(_WHO).alias("who"), "subject", self._step()
        )
        rows = polls.agg(functions.max(position), functions.max("at_us")).collect()
        return [(row[0], row[1], row[3], row[4]) for row in rows]

    def ends(self) -> Mapping[str, float]:
        """When the last process of each group, or a reader by itself, has ended."""
        from pyspark.sql import functions

        of_whom = self._of(Kind.POLLED).select("process", functions.expr(_WHO).alias("who"))
        last = self._rows.groupBy("process").agg(functions.max("at_us").alias("at_us"))
        joined = of_whom.distinct().join(last, "process").groupBy("who")
        rows = joined.agg(functions.max("at_us").alias("at_us")).collect()
        return {row["who"]: self.seconds(row["at_us"]) for row in rows}

    def silences(self) -> list[Silence]:
        """From an ack of a partition to its next, where that took long."""
        from pyspark.sql import Window, functions

        by_time = Window.partitionBy("subject").orderBy("at_us")
        before = functions.lag("at_us").over(by_time).alias("before")
        acks = self._of(Kind.ACKED).select("subject", "at_us", before)
        rows = acks.where(f"at_us - before > {_SILENCE_US}").collect()
        return sorted(
            Silence(row["subject"], self.seconds(row["before"]), self.seconds(row["at_us"]))
            for row in rows
        )

    def again(self) -> Mapping[str, list[tuple[float, int]]]:
        from pyspark.sql import functions

        # A sequence from an offset to the one before it is no empty one, but goes downwards.
        some = self._of(Kind.POLLED).where("size(`values`) > 0")
        handed = some.select(
            functions.expr(_WHO).alias("who"),
            "subject",
            "at_us",
            functions.expr("explode(sequence(`offset`, `offset` + size(`values`) - 1))").alias(
                "place"
            ),
        )
        places = handed.groupBy("who", "subject", "place").agg(
            functions.count("*").alias("times"), functions.max("at_us").alias("at_us")
        )
        counted = (
            places.where("times > 1")
            .groupBy("who", self._step())
            .agg(functions.sum(functions.col("times") - 1).alias("again"))
            .orderBy("who", "step")
            .collect()
        )
        found: dict[str, list[tuple[float, int]]] = {}
        for row in counted:
            at_s = row["step"] * self._step_us / MICROSECONDS
            found.setdefault(row["who"], []).append((at_s, row["again"]))
        return found


class Replicas:
    """What brokers' files hold, if they are there: ``root`` is a cluster's state directory."""

    def __init__(self, spark: SparkSession, root: Path | None) -> None:
        self._replicas: dict[str, set[int]] = {}
        self._records: DataFrame | None = None
        if root is not None and partitions_kept(root):
            for segment in find_segments({"path": str(root)}):
                self._replicas.setdefault(str(segment.partition), set()).add(segment.broker)
            files = spark.read.format("logquake.segments").load(str(root))
            # All that is asked of them would read the files anew.
            self._records = files.selectExpr(*_OF_RECORDS).persist()

    def stored_twice(self) -> Mapping[str, int]:
        """Sends, by their numbers in the values, in the replica that has most of it."""
        if self._records is None:
            return {}
        times = self._records.where("number is not null").groupBy("name", "broker", "number")
        twice = times.count().where("count > 1").groupBy("name", "broker").count()
        rows = twice.groupBy("name").max("count").orderBy("name").collect()
        return {row[0]: row[1] for row in rows}

    def parts(self) -> list[Part]:
        if self._records is None:
            return []
        places = self._records.groupBy("name", "offset").agg(*_said_of_a_place())
        ends = self._records.groupBy("name").agg({"offset": "max"})
        joined = places.join(ends.withColumnRenamed("max(offset)", "end"), "name")
        wanted = joined.join(self._counts(joined), "name")
        part = f"cast(floor(offset * {_PARTS} / (end + 1)) as bigint)"
        rows = (
            wanted.selectExpr("*", f"{part} part")
            .groupBy("name", "part")
            .agg(*_said_of_a_part())
            .orderBy("name", "part")
            .collect()
        )
        return [Part(*row[:1], *row[2:]) for row in rows]

    def _counts(self, like: DataFrame) -> DataFrame:
        told: list[Any] = [(name, len(brokers)) for name, brokers in self._replicas.items()]
        return like.sparkSession.createDataFrame(told, "name string, replicas int")


def _said_of_a_place() -> Sequence[Column]:
    from pyspark.sql import functions

    return (
        functions.count_distinct("broker").alias("brokers"),
        functions.count_distinct("content").alias("contents"),
        functions.count_if(~functions.col("crcOk")).alias("damaged"),
    )


def _said_of_a_part() -> Sequence[Column]:
    from pyspark.sql import functions

    return (
        functions.expr("min(offset)"),
        functions.expr("count_if(contents = 1 and brokers = replicas)"),
        functions.expr("count_if(contents = 1 and brokers < replicas)"),
        functions.expr("count_if(contents > 1)"),
        functions.expr("sum(damaged)"),
    )


def _as_rows(frame: DataFrame) -> list[Row]:
    """By time."""
    table = frame.select(*SCHEMA.names).toArrow().cast(SCHEMA)
    rows = [row for batch in table.to_batches() for row in rows_of(batch)]
    return sorted(rows, key=lambda row: row.at_us)
