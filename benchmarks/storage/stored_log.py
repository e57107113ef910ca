"""Logs on disk for the works that begin with one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig

_COMMIT_EVERY = 64


def fill(place: Path, config: LogConfig, batches: Iterable[bytes]) -> None:
    """A log of these batches, left unsynced: a start without ``clean`` has to scan it."""
    log = Log.open(RealDisk(), str(place), config)
    for number, batch in enumerate(batches):
        log.stage_as_follower(memoryview(batch))
        if number % _COMMIT_EVERY == 0:
            log.commit()
    log.commit()
    log.close(clean=False)


def log_files(place: Path) -> list[Path]:
    """In the order of their offsets."""
    return sorted(place.glob("*.log"))


def log_bytes(place: Path) -> int:
    return sum(path.stat().st_size for path in log_files(place))
