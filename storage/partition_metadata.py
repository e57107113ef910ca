"""partition.metadata: the topic id of a partition's folder (KIP-516)."""

from __future__ import annotations

from threading import Lock

from logquake.storage.disk.seam import Disk
from logquake.storage.errors import StorageError
from logquake.storage.file_names import join
from logquake.wire.uuids import decode_uuid, encode_uuid

FILE_NAME = "partition.metadata"


def read_topic_id(disk: Disk, directory: str) -> bytes | None:
    """The topic id's 16 bytes; None without the file. Raises StorageError for other content."""
    path = join(directory, FILE_NAME)
    try:
        text = disk.read(path).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise StorageError(path, "is not text") from error
    fields = dict(line.partition(": ")[::2] for line in text.splitlines())
    try:
        return decode_uuid(fields["topic_id"])
    except (KeyError, ValueError) as error:
        raise StorageError(path, f"holds no topic id: {text!r}") from error


class PartitionMetadataFile:
    """``topic_id`` is what the file says, or will once write() was called; None without either.

    The two are apart since the file costs two fsyncs, and a log may be one of thousands that are
    made at once. It is written before anything that would pass for another topic's if the power
    went, the log's first records (PartitionMetadataFile.record and maybeFlush).
    """

    def __init__(self, disk: Disk, directory: str) -> None:
        self.topic_id: bytes | None = None
        self._disk = disk
        self._directory = directory
        self._lock = Lock()
        self._unwritten: bytes | None = None

    def load(self) -> None:
        """Raises StorageError."""
        self.topic_id = read_topic_id(self._disk, self._directory)

    def record(self, topic_id: bytes) -> None:
        self.topic_id = self._unwritten = topic_id

    def write(self) -> None:
        """On any thread; blocks, but for a file that is written. Raises OSError."""
        if self._unwritten is None:
            return
        with self._lock:
            if self._unwritten is not None:
                content = f"version: 0\ntopic_id: {encode_uuid(self._unwritten)}"
                self._disk.replace(join(self._directory, FILE_NAME), content.encode())
                self._unwritten = None

    def abandon(self) -> None:
        """Write no more: the folder is given up, and another topic's may get its name."""
        with self._lock:
            self._unwritten = None
