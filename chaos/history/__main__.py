"""Histories and journals by time: ``python -m logquake.chaos.history FILE... [--parquet FILE]``.

Prints the rows, one line of JSON each; or writes them into one Parquet file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from logquake.chaos.history.lines import to_line
from logquake.chaos.history.reader import HistoryError, read_history


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m logquake.chaos.history",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--parquet", type=Path, metavar="FILE")
    options = parser.parse_args()
    rows = read_history(options.files)
    try:
        if options.parquet is None:
            sys.stdout.buffer.writelines(map(to_line, rows))
        else:
            from logquake.chaos.history.parquet import write_parquet

            print(f"{write_parquet(rows, options.parquet):,} rows in {options.parquet}")
    except (HistoryError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
