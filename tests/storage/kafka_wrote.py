"""A partition's folder that Kafka wrote, and what is to be made of it here.

vectors/transactional-0 is such a folder: a Kafka 3.9.1 broker wrote it for
tests/compat/transactional_log.py, and was stopped in order.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from tests.storage.last_run import last_run

VECTORS = Path(__file__).parent / "vectors"
TRANSACTIONAL = VECTORS / "transactional-0"
# As in the topic that it was written for.
CONFIG = LogConfig(segment_bytes=1_500, index_interval_bytes=300)
OF_PRODUCERS = (".txnindex", ".snapshot")


def files(folder: Path, *suffixes: str) -> dict[str, bytes]:
    """Contents by name, of the files with these suffixes or of all."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if not suffixes or path.suffix in suffixes
    }


def open_log(folder: Path, *, clean: bool = True) -> Log:
    return Log.open(RealDisk(), str(folder), CONFIG, last_run(clean=clean))


def opened_and_closed(folder: Path, target: Path) -> Path:
    """A copy after a clean start and a clean stop of ours."""
    shutil.copytree(folder, target)
    open_log(target).close(clean=True)
    return target


def recovered(folder: Path, target: Path) -> Path:
    """A copy without what is known of producers, after a recovery from the records alone."""
    shutil.copytree(folder, target)
    for name in files(target, *OF_PRODUCERS):
        (target / name).unlink()
    open_log(target, clean=False).close(clean=True)
    return target


def replicated(folder: Path, target: Path) -> Path:
    """What a follower of ours writes that fetches it a few batches at a time."""
    leader, follower = open_log(folder), open_log(target)
    while follower.end_offset < leader.end_offset:
        records = leader.read(follower.end_offset, 400, up_to=leader.end_offset)
        follower.stage_as_follower(memoryview(bytearray(records.read())))
        follower.commit()
    leader.close(clean=False)
    follower.close(clean=True)
    return target
