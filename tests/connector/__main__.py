"""Ours beside Spark's own Kafka connector, option by option: ``python -m tests.connector``.

The same queries through ``format("kafka")`` and ``format("logquake")`` in one Spark, to our cluster
and to Apache Kafka: equal rows, equal offsets, refused where the other refuses, but for what is
named here as different on purpose. Needs LOGQUAKE_SPARK_CONNECTOR, as
tests/peers/spark-connector.xml says, and to compare at Kafka LOGQUAKE_KAFKA_LIBS. Ends with 1
where something differs that is not named.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.errors import BenchmarkError
from benchmarks.kafka_peer import NAME as KAFKA
from benchmarks.kafka_peer import kafka_cluster
from benchmarks.own_cluster import NAME as OURS
from benchmarks.own_cluster import own_cluster
from benchmarks.spark.connector import with_connector
from logquake.pipeline.session import spark_session
from tests.connector.outcomes import Case, Outcome, compare
from tests.connector.reads import read_cases
from tests.connector.secured import secured_broker, secured_cases
from tests.connector.streams import stream_cases
from tests.connector.topics import fill
from tests.connector.writes import write_cases

_CLUSTERS = {OURS: lambda: own_cluster(1), KAFKA: kafka_cluster}
# A machine that does other things meanwhile is no refusal.
_PATIENT = {"spark.python.authenticate.socketTimeout": "300s"}
_KINDS = {"reads": read_cases, "streams": stream_cases, "writes": write_cases}
_SECURED = "secured"


def main() -> int:
    options = _parser().parse_args()
    try:
        spark = spark_session("connector", cores=2, configs=with_connector() | _PATIENT)
        spark.sparkContext.setLogLevel("OFF")  # of what is refused
        outcomes = [outcome for name in options.at for outcome in _at(name, spark, options)]
    except BenchmarkError as error:
        print(f"connector: {error}", file=sys.stderr)
        return 2
    unexpected = [each for each in outcomes if not each.is_expected]
    print(*unexpected, sep="\n")
    equal = sum(each.is_equal for each in outcomes)
    print(
        f"{len(outcomes)} cases: {equal} equal, {len(outcomes) - equal} differ, "
        f"of these {len(unexpected)} unexpectedly"
    )
    return 1 if unexpected else 0


def _at(name: str, spark: Any, options: argparse.Namespace) -> Iterator[Outcome]:
    if kinds := [kind for kind in options.only if kind != _SECURED]:
        with _CLUSTERS[name]() as target:
            fill(target.bootstrap)
            cases = [case for kind in kinds for case in _KINDS[kind](spark, target.bootstrap)]
            yield from _compared(name, cases, options)
    if _SECURED in options.only:
        with secured_broker(name) as one:
            yield from _compared(name, secured_cases(spark, one), options)


def _compared(name: str, cases: Iterable[Case], options: argparse.Namespace) -> list[Outcome]:
    return compare(
        name, [case for case in cases if any(word in case.name for word in options.case)]
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.connector",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--at", nargs="+", choices=_CLUSTERS, default=list(_CLUSTERS))
    parser.add_argument(
        "--only", nargs="+", choices=[*_KINDS, _SECURED], default=[*_KINDS, _SECURED]
    )
    parser.add_argument(
        "--case",
        nargs="+",
        default=[""],
        metavar="WORD",
        help="only those that have it in the name",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
