"""The checkpoint files of one log directory: offsets by partition, written when they changed.

A file may be written at once or, since an fsync takes its time, begun here and written on another
thread. Contents are numbered: whichever write comes last, the newest content stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from threading import Lock

from logquake.storage import checkpoint_files as checkpoints
from logquake.storage.checkpoint_files import DamagedCheckpointError
from logquake.storage.disk.seam import Disk
from logquake.storage.errors import disk_faults
from logquake.storage.file_names import join
from logquake.wire.topic_partition import TopicPartition

_FILES = (
    checkpoints.RECOVERY_POINTS,
    checkpoints.HIGH_WATERMARKS,
    checkpoints.LOG_START_OFFSETS,
    checkpoints.CLEANER_OFFSETS,
)


class _CheckpointFile:
    """One file. Only _write() may run on another thread than its owner's."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._lock = Lock()
        self._number = 0  # of the newest content
        self._newest: dict[TopicPartition, int] | None = None
        self._written = 0  # the number of what the file has
        self._stored: Collection[TopicPartition] = ()  # what it names

    def found(self, offsets: Mapping[TopicPartition, int]) -> None:
        """What the last run left there."""
        self._stored = offsets.keys()

    def may_name(self, key: TopicPartition) -> bool:
        """Whether the file has this partition, or gets it from what is under way."""
        return key in self._stored or (self._newest is not None and key in self._newest)

    def has(self, offsets: Mapping[TopicPartition, int]) -> bool:
        return self._written == self._number and self._newest == offsets

    def next(self, offsets: Mapping[TopicPartition, int]) -> int:
        """The number of this content, which replaces what came before."""
        self._number += 1
        self._newest = dict(offsets)
        return self._number

    def reserve(self) -> int:
        """A number for a content that is yet to be collected: what is begun since outruns it."""
        self._number += 1
        return self._number

    def fill(self, number: int, offsets: dict[TopicPartition, int]) -> bool:
        """What was collected under a reserved number; whether it is to be written."""
        if number != self._number:
            return False
        if self._written == number - 1 and self._newest == offsets:
            self._number -= 1  # the file has these already
            return False
        self._newest = offsets
        return True

    def write(self, number: int, offsets: Mapping[TopicPartition, int]) -> None:
        """Nothing is done when a newer content is there. Raises OSError."""
        with self._lock:
            if number > self._written:
                checkpoints.write_offsets(self._disk, self._path, offsets)
                self._written, self._stored = number, offsets.keys()


@dataclass(frozen=True, slots=True)
class PendingCheckpoint:
    """A content that waits to be written; dropped, it is made again at the next occasion."""

    directory: str
    file: _CheckpointFile
    number: int
    offsets: Mapping[TopicPartition, int]

    def run(self) -> None:
        """On any thread; blocks. Raises StorageError."""
        with disk_faults(self.directory):
            self.file.write(self.number, self.offsets)


class GradualCheckpoint:
    """A content that is collected bit by bit, on its owner's thread, from ``offsets``.

    These may change in between: what had to be written at once meanwhile stays, and this is not.
    """

    def __init__(
        self,
        directory: str,
        file: _CheckpointFile,
        offsets: Iterator[tuple[TopicPartition, int | None]],
    ) -> None:
        self.directory = directory
        self._file = file
        self._number = file.reserve()
        self._rest = offsets
        self._collected: dict[TopicPartition, int] = {}

    def collect(self, count: int) -> bool:
        """So many more, None being nothing to say; whether there may be more."""
        some = list(islice(self._rest, count))
        self._collected.update((key, offset) for key, offset in some if offset is not None)
        return len(some) == count

    def finish(self) -> PendingCheckpoint | None:
        """What writes the file; None when it has these already, or newer ones."""
        if not self._file.fill(self._number, self._collected):
            return None
        return PendingCheckpoint(self.directory, self._file, self._number, self._collected)


class DirCheckpoints:
    """By file name, as in ``checkpoint_files``. Raises StorageError."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._files = {name: _CheckpointFile(disk, join(path, name)) for name in _FILES}

    def read(self, name: str) -> dict[TopicPartition, int]:
        """Empty when the file is missing, or damaged as in Kafka: it is then found out anew."""
        with disk_faults(self._path):
            try:
                return checkpoints.read_offsets(self._disk, join(self._path, name))
            except DamagedCheckpointError:
                return {}

    def has(self, name: str) -> bool:
        return self._disk.exists(join(self._path, name))

    def begin(self, name: str, offsets: Mapping[TopicPartition, int]) -> PendingCheckpoint | None:
        """What writes the file; None when it has these already."""
        file = self._files[name]
        if file.has(offsets):
            return None
        copy = dict(offsets)
        return PendingCheckpoint(self._path, file, file.next(copy), copy)

    def collect(
        self, name: str, offsets: Iterator[tuple[TopicPartition, int | None]]
    ) -> GradualCheckpoint:
        """The same for offsets that it takes a while to look at."""
        return GradualCheckpoint(self._path, self._files[name], offsets)

    def write(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        """All of it here and now."""
        pending = self.begin(name, offsets)
        if pending is not None:
            pending.run()

    def may_name(self, key: TopicPartition, names: Iterable[str]) -> bool:
        """Whether one of these files has an entry of the partition, or is about to get it."""
        return any(self._files[name].may_name(key) for name in names)

    def outrun(self, names: Iterable[str]) -> None:
        """Drop what is being collected for these: it may have seen what is gone by now."""
        for name in names:
            self._files[name].reserve()

    def drop_others(self, known: Collection[TopicPartition]) -> None:
        """Drop the entries of partitions that are not known.

        A crash within a deletion leaves them. A log that is made under such a name is another one:
        recovery would trust what was never synced, or drop what is below its predecessor's start.
        """
        for name in _FILES:
            offsets = self.read(name)
            self._files[name].found(offsets)
            kept = {key: offset for key, offset in offsets.items() if key in known}
            if kept != offsets:
                self.write(name, kept)
