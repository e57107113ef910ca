"""Jobs on Spark: ``python -m logquake.pipeline JOB ...``.

    count    a topic's records by key, as one JSON object
    audit    a chaos run judged, its history longer than memory; a page with plots
    lake     topics into Parquet files by date and hour, each row once
    replay   a lake's rows back into topics
    mirror   topics into those of another cluster

Each is a process of its own: whoever asks needs no JVM inside, and Spark's memory is gone when the
answer is there. They run on this machine's cores, on the cluster of --master, or by spark-submit.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from logquake.pipeline.jobs import mirror, replay
from logquake.pipeline.jobs.audit import command as audit
from logquake.pipeline.jobs.errors import line_of, told_in_a_line
from logquake.pipeline.jobs.lake import command as lake
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROGRAM = "python -m logquake.pipeline"
_INTERRUPTED = 130  # as shells have it


def main(arguments: list[str]) -> int:
    """Exit status 2 for what was asked wrongly, 1 for what failed, 130 for what was interrupted:
    each in a line.
    """
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except told_in_a_line() as error:
        print(f"{_PROGRAM} {options.job}: {line_of(error)}", file=sys.stderr)
        return 2 if isinstance(error, OptionError) else 1
    except KeyboardInterrupt:  # as jobs end that go on and on
        print(f"{_PROGRAM} {options.job}: interrupted", file=sys.stderr)
        return _INTERRUPTED


def _run(options: argparse.Namespace) -> int:
    name = f"logquake {options.job}"
    spark = spark_session(name, master=options.master, short=options.is_short)
    try:
        status: int = options.run(spark, options)
        return status
    finally:
        spark.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    lines = dict(
        line.split(maxsplit=1) for line in (__doc__ or "").splitlines() if line[:4] == " " * 4
    )
    for name, add_arguments in _JOBS.items():
        job = jobs.add_parser(name, help=lines[name], description=lines[name])
        job.add_argument("--master", metavar="URL", help="of a Spark cluster")
        add_arguments(job)
    return parser


def _add_count(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bootstrap_servers", metavar="BOOTSTRAP_SERVERS")
    parser.add_argument("topic", metavar="TOPIC")
    parser.set_defaults(run=_count, is_short=True)


def _count(spark: SparkSession, options: argparse.Namespace) -> int:
    from logquake.pipeline.jobs.counting import count_by_key

    print(json.dumps(count_by_key(spark, options.bootstrap_servers, options.topic)))
    return 0


_JOBS = {
    "count": _add_count,
    "audit": audit.add_arguments,
    "lake": lake.add_arguments,
    "replay": replay.add_arguments,
    "mirror": mirror.add_arguments,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
