"""A Spark, and the formats that are held against each other there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.spark.connector import VARIABLE, with_connector
from benchmarks.spark.formats import Format, formats
from logquake.pipeline.session import spark_session

_CORES = 2


@contextmanager
def running_formats(bootstrap: str) -> Iterator[list[Format]]:
    """Ours alone where there is no connector. Raises BenchmarkError."""
    has_connector = bool(os.environ.get(VARIABLE))
    if not has_connector:
        print(f"without {VARIABLE}: ours alone", file=sys.stderr)
    configs = with_connector() if has_connector else {}
    spark = spark_session("benchmarks", cores=_CORES, configs=configs)
    try:
        yield formats(spark, bootstrap, connector=has_connector)
    finally:
        spark.stop()
