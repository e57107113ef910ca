"""Jobs on Spark: ``python -m logquake.pipeline JOB ...``.

    count    a topic's records by key, as one JSON object
    audit    the invariants over a history that is longer than memory

Each is a process of its own: whoever asks needs no JVM inside, and Spark's memory is gone when the
answer is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    spark = spark_session(f"logquake {options.job}", short=options.is_short)
    try:
        status: int = options.run(spark, options)
        return status
    finally:
        spark.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m logquake.pipeline",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")

    count = jobs.add_parser("count", help="a topic's records by key, as one JSON object")
    count.add_argument("bootstrap_servers", metavar="BOOTSTRAP_SERVERS")
    count.add_argument("topic", metavar="TOPIC")
    count.set_defaults(run=_count, is_short=True)

    audit = jobs.add_parser("audit", help="the invariants over a history longer than memory")
    audit.add_argument("history", type=Path, metavar="FILE", help="a Parquet file of rows")
    audit.add_argument(
        "--cluster", type=Path, metavar="DIRECTORY", help="state of the cluster it is about"
    )
    audit.set_defaults(run=_audit, is_short=False)
    return parser


def _count(spark: SparkSession, options: argparse.Namespace) -> int:
    from logquake.pipeline.counting import count_by_key

    print(json.dumps(count_by_key(spark, options.bootstrap_servers, options.topic)))
    return 0


def _audit(spark: SparkSession, options: argparse.Namespace) -> int:
    """Exit status 1 if an invariant is broken, as `python -m logquake.chaos.checkers` has it."""
    from logquake.chaos.checkers.verdicts import Verdict
    from logquake.pipeline.audit import audit

    judgement = audit(spark, options.history, options.cluster)
    print(judgement)
    return 1 if judgement.verdict is Verdict.BROKEN else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
