"""partition.metadata: the topic id of a partition's folder (KIP-516)."""

from __future__ import annotations

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


def write_topic_id(disk: Disk, directory: str, topic_id: bytes) -> None:
    content = f"version: 0\ntopic_id: {encode_uuid(topic_id)}"
    disk.replace(join(directory, FILE_NAME), content.encode())
