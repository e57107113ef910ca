"""Where the clusters keep their data: in memory, so that no disk is measured.

The kernel writes dirty pages of a real disk back while the next run is measured, and what that
costs depends on the disk and on its other users.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

IN_MEMORY = Path("/dev/shm")
NEEDED_BYTES = 8 * 10**9  # three replicas of the longest runs of two clusters, and of what is read


@contextlib.contextmanager
def data_folder() -> Iterator[Path]:
    """A folder for the length of the block, in memory where there is room; says so if not."""
    parent = IN_MEMORY if _has_room() else Path(tempfile.gettempdir())
    if parent != IN_MEMORY:
        print(f"no room for the data in {IN_MEMORY}: it is in {parent}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=parent) as folder:
        yield Path(folder)


def _has_room() -> bool:
    if not os.access(IN_MEMORY, os.W_OK):
        return False
    free = min(psutil.disk_usage(str(IN_MEMORY)).free, psutil.virtual_memory().available)
    return bool(free >= NEEDED_BYTES)
