"""Spark's own Kafka connector as a peer, from the folder that LOGQUAKE_SPARK_CONNECTOR names."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.errors import BenchmarkError

VARIABLE = "LOGQUAKE_SPARK_CONNECTOR"
OURS, CONNECTORS = "logquake", "kafka"  # the formats


def with_connector() -> dict[str, str]:
    """What Spark has to be told. Raises BenchmarkError where there are no jars."""
    folder = Path(os.environ.get(VARIABLE, ""))
    jars = sorted(folder.glob("*.jar")) if os.environ.get(VARIABLE) else []
    if not any(jar.name.startswith("spark-sql-kafka") for jar in jars):
        raise BenchmarkError(f"set {VARIABLE} to a folder with the jars of Spark's connector")
    return {"spark.jars": ",".join(map(str, jars))}
