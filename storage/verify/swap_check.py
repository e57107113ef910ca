"""Cleaned segments that a crash kept from taking their place: the next start relies on them."""

from __future__ import annotations

from logquake.storage import file_names as names
from logquake.storage.cleaner.swap import whole_swaps
from logquake.storage.disk.seam import Disk
from logquake.storage.segments.batch_walk import DamagedBatchError, walk_verified
from logquake.storage.verify.findings import Findings


def check_swaps(disk: Disk, directory: str, found: list[str], findings: Findings) -> None:
    """Raises OSError."""
    for name in whole_swaps(found):
        if name.endswith(names.LOG_SUFFIX + names.SWAP_FILE_SUFFIX):
            path = names.join(directory, name)
            try:
                file = disk.open(path)
                for _ in walk_verified(file, 0, file.size()):
                    pass
            except FileNotFoundError:  # a broker runs, and has swapped it in meanwhile
                continue
            except DamagedBatchError as damage:
                findings.damage("swap", path, f"{damage}; the next start puts it in place")
