"""Spark over a cluster: a data source named "logquake", and `python -m logquake.pipeline JOB`.

What users import or run stands here, each room's own `__init__` says what lies in it:

    session.py    a quiet local session, and the Java that it runs on
    rehearsal.py  what its JVM need not load anew, made and kept
    progress.py   how far a query is behind, by its own progress
    __main__.py   the jobs, each a command
    jobs/         what they do
    starting/     what sessions and their workers start from
    formats/      the classes that Spark calls first: topics, replicas' files, journals
    source/       topics read, in a batch and as a stream
    sink/         topics written, at least once and exactly once
    asking.py     a cluster asked, and what went wrong there in a line
    options/      options by name: their values, and Kafka's own keys
    columns.py    rows gathered as Arrow batches

Usage: `spark = spark_session(); register(spark); spark.read.format("logquake")`, or `readStream`,
with option names, schema and checkpoints' offsets as Spark's own Kafka connector has them.
pyspark and pyarrow come with the extra `logquake[spark]` and are imported when first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Make the format "logquake" known to the session, and its .segments and .journal."""
    from logquake.pipeline.formats.journal import JournalDataSource
    from logquake.pipeline.formats.segments import SegmentsDataSource
    from logquake.pipeline.formats.topics import LogquakeDataSource

    for source in (LogquakeDataSource, SegmentsDataSource, JournalDataSource):
        spark.dataSource.register(source)
