"""Copying a piece of a log into its future, on a worker thread.

A future belongs to one step at a time. Who calls a move off, on the loop, waits for the step under
way, which is short: this is the one place where the loop and a worker share a lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from logquake.storage.errors import disk_faults
from logquake.storage.log.log import Log
from logquake.storage.log.slice import LogSlice
from logquake.storage.log.sync import PendingSync


class Gate:
    """Held by whoever changes the future; once closed, steps that come late do nothing."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_closed = False

    def close(self) -> None:
        with self._lock:
            self._is_closed = True

    @contextmanager
    def entered(self) -> Iterator[bool]:
        """Whether there is still something to do."""
        with self._lock:
            yield not self._is_closed


@dataclass(frozen=True, slots=True)
class CopyStep:
    """``cuts`` is source.cuts when the piece was read out of it."""

    source: Log
    future: Log
    piece: LogSlice
    cuts: int
    now_ms: int
    gate: Gate

    def run(self) -> int:
        """Append the piece to the future; the bytes copied. Raises StorageError, RecordError.

        Nothing is copied where the source was truncated meanwhile: the bytes may be of two times.
        A truncation that comes later is found by the leader epochs.
        """
        with self.gate.entered() as is_wanted:
            if not is_wanted:
                return 0
            with disk_faults(self.source.directory):
                records = self.piece.read()
            if self.source.cuts != self.cuts:
                return 0
            return append(self.future, records, self.now_ms)


@dataclass(frozen=True, slots=True)
class SyncStep:
    """Everything copied so far survives a loss of power, before it is all that there is."""

    pending: PendingSync
    gate: Gate

    def run(self) -> None:
        """Raises OSError."""
        with self.gate.entered() as is_wanted:
            if is_wanted:
                self.pending.run()


def append(future: Log, records: bytes, now_ms: int) -> int:
    """The bytes of the whole batches in records. Raises StorageError, RecordError."""
    appended = future.stage_as_follower(memoryview(records), now_ms)
    future.commit()
    return appended.size
