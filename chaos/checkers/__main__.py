"""The invariants over a history in a Parquet file: ``python -m logquake.chaos.checkers FILE``.

With ``--cluster DIRECTORY``, the state directory of the cluster that it is about, by the replicas'
logs, ZooKeeper's writes and the brokers' journals too. Exit status 1 if one is broken.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from logquake.chaos.checkers.sharing import ROWS_OF_A_SHARE, judge_file
from logquake.chaos.checkers.verdicts import Verdict
from logquake.chaos.history.reader import HistoryError


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m logquake.chaos.checkers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("history", type=Path, metavar="FILE")
    parser.add_argument("--cluster", type=Path, metavar="DIRECTORY")
    parser.add_argument(
        "--rows-of-a-share",
        type=int,
        default=ROWS_OF_A_SHARE,
        metavar="N",
        help="so many rows of whole partitions are in memory at once (%(default)s)",
    )
    options = parser.parse_args()
    try:
        judgement = judge_file(
            options.history, options.cluster, rows_of_a_share=options.rows_of_a_share
        )
    except (HistoryError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(judgement)
    return 1 if judgement.verdict is Verdict.BROKEN else 0


if __name__ == "__main__":
    sys.exit(main())
