"""The demo's job: how many records a topic holds of each key, counted by Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def count_by_key(spark: SparkSession, bootstrap_servers: str, topic: str) -> dict[str, int]:
    """Count a topic's committed records by key; a record without key counts under "".

    Keys are read as UTF-8. Raises what a Spark job raises (PySparkException).
    """
    from pyspark.sql import functions

    records = (
        spark.read.format("logquake")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", topic)
        .option("columns", "key")
        .load()
    )
    key = functions.coalesce(functions.col("key").cast("string"), functions.lit(""))
    rows = records.groupBy(key.alias("key")).count().collect()
    return {row["key"]: row["count"] for row in rows}
