"""A history as it happens: one file of JSON lines for one life of one process.

Each row is written at once, by one call: what a process did before it was killed is in its file,
but for a last line that may lack its end. That costs some 3 us a row, and is what makes a send that
nobody ever answered known.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import Any

from logquake.chaos.history.lines import to_line
from logquake.chaos.history.rows import Row


def wall_us() -> int:
    return time_ns() // 1000


class HistoryWriter:
    """Threads may share it. Raises FileExistsError for a file that another life has written."""

    def __init__(self, path: Path, process: str, now_us: Callable[[], int] = wall_us) -> None:
        self._process = process
        self._now_us = now_us
        self._lock = Lock()
        self._sequence = 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(path, flags, 0o644)

    def __enter__(self) -> HistoryWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def record(self, what: str, subject: str, **fields: Any) -> int:
        """Write a row with these of its fields; its sequence. Raises OSError: a full disk, say."""
        with self._lock:
            self._sequence += 1
            row = Row(self._now_us(), self._process, self._sequence, what, subject, **fields)
            line = to_line(row)
            while line:
                line = line[os.write(self._fd, line) :]
            return self._sequence

    def close(self) -> None:
        os.close(self._fd)
