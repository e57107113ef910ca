"""The demo's job: how many records a topic holds of each key, counted by Spark.

The demo produces a known number of records for each file it reads, keyed by the file, while
brokers are killed. What Spark finds afterwards is compared with what was acknowledged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class KeyCounts:
    """Records by key; `distinct` counts equal values of a key once."""

    records: Mapping[str, int]
    distinct: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.records.values())


@dataclass(frozen=True, slots=True)
class Difference:
    """One key whose count is not what was acknowledged."""

    key: str
    expected: int
    found: int


def count_by_key(spark: SparkSession, bootstrap_servers: str, topic: str) -> KeyCounts:
    """Count a topic's committed records by key; a record without key counts under "".

    Keys are read as UTF-8. Raises what a Spark job raises (PySparkException).
    """
    from pyspark.sql import functions

    records = (
        spark.read.format("logquake")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", topic)
        .load()
    )
    key = functions.coalesce(functions.col("key").cast("string"), functions.lit(""))
    rows = (
        records.groupBy(key.alias("key"))
        .agg(
            functions.count("*").alias("records"),
            functions.countDistinct("value").alias("distinct"),
        )
        .orderBy("key")
        .collect()
    )
    return KeyCounts(
        {row["key"]: row["records"] for row in rows},
        {row["key"]: row["distinct"] for row in rows},
    )


def differences(expected: Mapping[str, int], found: Mapping[str, int]) -> list[Difference]:
    """Every key that is missing, unexpected or counted otherwise, by key."""
    return [
        Difference(key, expected.get(key, 0), found.get(key, 0))
        for key in sorted(expected.keys() | found.keys())
        if expected.get(key, 0) != found.get(key, 0)
    ]
