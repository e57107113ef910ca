"""What a partition costs a process: memory, CPU to open it after an orderly stop, files, disk.

Each run is a process of its own (``partition_process``) over one folder of partitions, each with
one batch. "opened" is the log directory alone, "led" a broker's replicas of these partitions as
well, leaders in the epoch that they were in, without clients or metadata. Memory is PSS, against
the process before it began.

The limit: in memory, for each partition a tuple of topic and number that leads to one Python object
with two attributes; of CPU, listing each folder and reading each file once. Neither keeps anything
open.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.storage import partition_process as process
from benchmarks.storage.batches import KIB, Shape, produced
from benchmarks.storage.sides import Side, contest
from logquake.storage.dirs.clean_shutdown import leave_marker
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.log_config import LogConfig

_BLOCK_BYTES = 512  # of st_blocks, whatever the file system's are
_PARTITION_TIMEOUT_S = 0.01
_START_TIMEOUT_S = 60.0


def partition_cases(folder: Path, partitions: int) -> Iterator[Case[Side]]:
    with tempfile.TemporaryDirectory(dir=folder) as made:
        stopped = _StoppedBroker(Path(made), partitions)
        stopped.make()
        for kind in (process.OPENED, process.LED):
            yield _case(kind, stopped)


def _case(kind: str, stopped: _StoppedBroker) -> Case[Side]:
    return contest(
        f"{stopped.partitions} partitions, {kind}",
        lambda: {**stopped.measure(kind), "KiB on disk": stopped.disk_bytes() / KIB},
        lambda: stopped.measure(process.LIMIT),
        warm_up=False,
    )


class _StoppedBroker:
    """A log directory that was closed in order, made so again before each measurement."""

    def __init__(self, path: Path, partitions: int) -> None:
        self.partitions = partitions
        self._path = path
        self._indexes: dict[str, bytes] = {}  # of each partition, by file name

    def make(self) -> None:
        """One partition as a broker makes it, the others copies: thousands of syncs take long.

        Only the indexes are written to when a log is opened; the other files are links, because a
        new file is dear.
        """
        log_dir = open_log_dir(RealDisk(), str(self._path), process.options())
        log = log_dir.create_log(process.TOPIC, 0, process.TOPIC_ID, LogConfig())
        (batch,) = produced(Shape(batch_bytes=2 * KIB), 1)
        log.stage_as_leader(memoryview(bytearray(batch)), 0, 0)
        log.commit()
        log_dir.close(clean=True)
        files = list(self._folder(0).iterdir())
        self._indexes = {f.name: f.read_bytes() for f in files if f.name.endswith("index")}
        for number in range(1, self.partitions):
            folder = self._folder(number)
            folder.mkdir()
            for file in files:
                if file.name in self._indexes:
                    (folder / file.name).write_bytes(self._indexes[file.name])
                else:
                    os.link(file, folder / file.name)

    def measure(self, kind: str) -> Figures:
        """A partition's share. Raises BenchmarkError when the process fails."""
        self._restore()
        done = subprocess.run(
            [sys.executable, "-m", process.__name__, kind, str(self._path), str(self.partitions)],
            stdout=subprocess.PIPE,
            check=False,
            timeout=_START_TIMEOUT_S + self.partitions * _PARTITION_TIMEOUT_S,
        )
        if done.returncode:
            raise BenchmarkError(f"{kind}: {self.partitions} partitions: {done.returncode}")
        figures: dict[str, float] = json.loads(done.stdout)
        return figures

    def disk_bytes(self) -> float:
        """Allocated, folders included, as it is after a stop; a partition's share."""
        self._restore()
        blocks = sum(path.stat().st_blocks for path in self._folder(0).rglob("*"))
        return (blocks + self._folder(0).stat().st_blocks) * _BLOCK_BYTES

    def _restore(self) -> None:
        """An open log's indexes are larger, and a directory in use has no marker."""
        for number in range(self.partitions):
            for name, content in self._indexes.items():
                os.truncate(self._folder(number) / name, len(content))
        leave_marker(RealDisk(), str(self._path))

    def _folder(self, number: int) -> Path:
        return self._path / f"{process.TOPIC}-{number}"
