"""What a start scans after an unclean stop: MB/s of one core, the files in the page cache.

Every batch since the recovery point, here since the beginning: order, CRC, indexes anew, leader
epochs, producers. The limit: the file read in chunks and checksummed. MB are of the files as they
are stored.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.storage import raw
from benchmarks.storage.batches import BATCH_BYTES, MB, Shape, stored
from benchmarks.storage.sides import Side, contest, cpu_seconds
from benchmarks.storage.stored_log import fill, log_bytes, log_files
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log.last_run import LastRun, UncleanStop
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.compression import Codec

_CODECS = (Codec.NONE, Codec.LZ4)


def recovery_cases(folder: Path, plain_bytes: int) -> Iterator[Case[Side]]:
    """plain_bytes: the log's size before compression."""
    for codec in _CODECS:
        shape = Shape(codec=codec)
        with tempfile.TemporaryDirectory(dir=folder) as made:
            place = Path(made)
            fill(place, LogConfig(), stored(shape, plain_bytes // BATCH_BYTES))
            yield _case(shape, place)


def _case(shape: Shape, place: Path) -> Case[Side]:
    return contest(f"recovery, {shape.name}", lambda: _ours(place), lambda: _limit(place))


def _ours(place: Path) -> Figures:
    size = log_bytes(place)
    opened: list[Log] = []
    seconds = cpu_seconds(lambda: opened.append(_open(place)))
    log = opened[0]
    log.close(clean=False)
    if log.recovery.scanned_bytes != size or log.recovery.truncated_bytes:
        raise BenchmarkError(f"recovery of {size} intact bytes: {log.recovery}")
    return {"MB/s": size / MB / seconds}


def _open(place: Path) -> Log:
    return Log.open(RealDisk(), str(place), LogConfig(), LastRun(UncleanStop()))


def _limit(place: Path) -> Figures:
    seconds = cpu_seconds(lambda: _read_all(place))
    return {"MB/s": log_bytes(place) / MB / seconds}


def _read_all(place: Path) -> None:
    for path in log_files(place):
        deque(raw.read_checked(path), maxlen=0)
