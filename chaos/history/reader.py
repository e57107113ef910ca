"""Histories and journals, read as they lie there: in the order of time, in little memory.

Caveat: processes are put into one order by the machine's clock. Where it is set back, or a broker's
clock is another one (a fault), rows of different processes lie in a wrong order; those of one
process never do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from heapq import merge
from pathlib import Path

from logquake.chaos.history.lines import from_line
from logquake.chaos.history.rows import Row


class HistoryError(Exception):
    """A line that nobody can have written, in the middle of a file; the message says where."""


def journals_in(events: Path, of: str = "*") -> list[Path]:
    """The files of brokers' journals, what was put aside for its size among them."""
    return sorted(events.glob(f"{of}.jsonl*"))


def read_history(paths: Iterable[Path]) -> Iterator[Row]:
    """The rows of these files, of histories and journals alike, by time.

    A file's rows stay in their order. One line of each is in memory. Raises HistoryError, OSError.
    """
    # Rows compare as tuples: by at_us, then process, then sequence, and no two have all three.
    return merge(*map(read_file, paths))


def read_file(path: Path) -> Iterator[Row]:
    """Up to the last whole line: a killed process may have left half of one.

    A file that is still being written is read as far as it goes when it is opened: a reader that
    is slower than the writer would never reach the end.
    """
    with path.open("rb") as file:
        left_bytes = os.fstat(file.fileno()).st_size
        for number, line in enumerate(file, 1):
            left_bytes -= len(line)
            if left_bytes < 0 or not line.endswith(b"\n"):
                return
            try:
                row = from_line(line)
            except (ValueError, KeyError, TypeError) as error:
                raise HistoryError(f"{path}, line {number}: {error!r}") from error
            yield row
