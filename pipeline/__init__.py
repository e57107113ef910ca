"""Spark over a cluster: a data source named "logquake", and `python -m logquake.pipeline JOB`.

    options.py    the connector's options, parsed and refused (option_values.py)
    planning.py   offsets of a topic's partitions cut into ranges, one a Spark task
    pushdown.py   filters of a query that need not be read for
    asking.py     a cluster asked, and what went wrong there in a line
    reading.py    one range, on an executor, as Arrow record batches
    record_columns.py  the columns of a record
    decoding/     stored batches as Arrow columns
    admission.py  how much a batch of a stream takes, and what of it is lost
    stream.py     the class that Spark asks for a stream's batches
    progress.py   how far a query is behind, by its own progress
    writing.py    a task's rows on their way to their topics (write_options.py)
    exactly_once.py  the same in one transaction with a mark
    marks.py      what a mark says of a task that runs again
    sink.py       the classes that Spark writes through
    source.py     the class that Spark calls first
    files.py      files, small ones together in a task
    segments.py   the class that reads brokers' log directories
    journal.py    the class that reads histories and journals
    columns.py    rows gathered as Arrow batches
    session.py    a quiet local session, and the Java that it runs on
    class_archive.py  what its JVM need not load anew (rehearsal.py: where that is made)
    shipping.py   this package, for workers on other machines
    worker_daemon.py  what Spark's Python workers are forked from
    __main__.py   the jobs, each a command (job_errors.py: what ends one, in a line)
    counting.py   the demo's job: what a topic holds, by key
    audit/       a chaos run's history judged, however long it is
    lake/         topics into Parquet files, each row once
    replay.py     a lake's rows back into topics
    mirror.py     topics into those of another cluster
    topic_arguments.py, writing_arguments.py  arguments that several of them take
    target_topics.py  topics made where they are missing
    pacing.py     so many rows a second at most

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
    from logquake.pipeline.journal import JournalDataSource
    from logquake.pipeline.segments import SegmentsDataSource
    from logquake.pipeline.source import LogquakeDataSource

    for source in (LogquakeDataSource, SegmentsDataSource, JournalDataSource):
        spark.dataSource.register(source)
