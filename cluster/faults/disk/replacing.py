"""How a whole file is replaced, in the steps that the Disk seam names: each may be the last."""

from __future__ import annotations

import os

from logquake.storage.disk.seam import Disk


def replace_in_steps(disk: Disk, path: str, content: bytes) -> None:
    temporary = path + ".tmp"
    file = disk.open(temporary, create=True)
    try:
        file.truncate(0)
        file.pwritev([content], 0)
        file.sync()
    finally:
        file.close()
    disk.rename(temporary, path)
    disk.sync_dir(os.path.dirname(path) or ".")
