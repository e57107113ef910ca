"""What storage raises besides RecordError (a refused batch is the sender's fault).

StorageError is an operating fault: whoever owns the log takes it, or its directory, offline.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class StorageError(Exception):
    """The disk failed, or holds what cannot be right, at ``path``; the OSError is the cause."""

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(f"{path}: {detail}")
        self.path = path


class DamagedFileError(Exception):
    """A file holds what cannot be right. Where the file cannot be made anew: StorageError."""


DISK_FAULTS = (OSError, DamagedFileError)


class LogDirError(Exception):
    """A log directory that this broker must not use; the message tells the user what to do."""


class LoadCancelledError(Exception):
    """Opening a log directory was given up on request (LoadProgress.cancel)."""


class OffsetOutOfRange(Exception):  # noqa: N818  # Kafka's word for it
    """A read outside [start_offset, end_offset] (error code OFFSET_OUT_OF_RANGE)."""

    def __init__(self, offset: int, start_offset: int, end_offset: int) -> None:
        super().__init__(f"offset {offset} is outside [{start_offset}, {end_offset}]")
        self.offset = offset
        self.start_offset = start_offset
        self.end_offset = end_offset


@contextmanager
def disk_faults(path: str) -> Iterator[None]:
    """Turn what the disk does wrong into StorageError(path)."""
    try:
        yield
    except DISK_FAULTS as error:
        raise StorageError(path, str(error)) from error


@contextmanager
def refusals(path: str) -> Iterator[None]:
    """Turn what the disk refuses to do into StorageError(path), not what its files hold."""
    try:
        yield
    except OSError as error:
        raise StorageError(path, str(error)) from error
