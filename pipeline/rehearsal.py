"""What Spark's next starts can share is made and kept: ``python -m logquake.pipeline.rehearsal``.

It takes some seconds the first time, and next to none when it has been done. Where it cannot be
done all works, only slower, so that is no failure.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logquake.cluster.errors import ClusterError
from logquake.cluster.processes.java import find_java
from logquake.pipeline.starting.class_archive import make_archive, making_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LINE = b'{"at_us":1,"process":"p","sequence":1,"what":"began","subject":"p"}\n'
_ENDED_WITHIN_S = 300.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m logquake.pipeline.rehearsal")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.into is not None:
        _rehearse(options.into)
        return 0
    try:
        is_there = make_archive(find_java())
    except ClusterError:
        is_there = False
    if not is_there:
        print("Spark's classes could not be kept for its next start", file=sys.stderr)
    return 0


def _rehearse(archive: Path) -> None:
    """In a JVM that writes the archive as it ends, which is waited for."""
    from logquake.pipeline.session import spark_session

    spark = spark_session("rehearsal", cores=1, short=True, java_options=making_options(archive))
    gateway: Any = spark.sparkContext._gateway
    with tempfile.TemporaryDirectory() as folder:
        _count(spark, Path(folder))
        spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(_ENDED_WITHIN_S)


def _count(spark: SparkSession, folder: Path) -> None:
    """As jobs do: out of a Python source, and out of files of columns."""
    lines, columns = folder / "lines.jsonl", str(folder / "columns")
    lines.write_bytes(_LINE)
    rows = spark.read.format("logquake.journal").load(str(lines))
    rows.groupBy("what").count().collect()
    rows.write.parquet(columns)
    spark.read.parquet(columns).groupBy("subject").agg({"at_us": "max"}).collect()


if __name__ == "__main__":
    sys.exit(main())
