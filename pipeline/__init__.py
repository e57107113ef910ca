"""Spark over a cluster: a data source named "logquake", and `python -m logquake.pipeline JOB`.

    options.py    the connector's options, parsed and refused
    planning.py   offsets of a topic's partitions cut into ranges, one a Spark task
    reading.py    one range, on an executor, as Arrow record batches
    source.py     the classes that Spark calls
    session.py    a quiet local session, and the Java that it runs on
    counting.py   the demo's job: what a topic holds, by key
    audit.py      a chaos run's history judged, however long it is

Usage: `spark = spark_session(); register(spark); spark.read.format("logquake")`, with the option
names and the schema of Spark's own Kafka connector. Caveats: batch reads only, PLAINTEXT only.
pyspark and pyarrow come with the extra `logquake[spark]` and are imported when first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Make `spark.read.format("logquake")` known to the session."""
    from logquake.pipeline.source import LogquakeDataSource

    spark.dataSource.register(LogquakeDataSource)
