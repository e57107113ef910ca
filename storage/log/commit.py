"""Writing what is staged: one pwritev a segment, and nothing counts when it fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from errno import EIO

from logquake.storage.errors import StorageError
from logquake.storage.log.state import LogState
from logquake.storage.log.sync import LogSyncs


class LogCommit:
    """``on_rolled`` is called when a commit began a segment: those before it can be synced."""

    def __init__(self, state: LogState, syncs: LogSyncs) -> None:
        self.on_rolled: Callable[[], None] = _do_nothing
        self._state = state
        self._syncs = syncs

    def commit(self) -> None:
        """Raises StorageError, and then nothing that was staged counts."""
        state = self._state
        active = state.files.segments.active
        try:
            self._write_staged()
        except OSError as error:
            self._undo()
            raise StorageError(state.directory, f"appending: {error}") from error
        if state.written_end_offset - self._syncs.recovery_point >= state.config.flush_messages:
            self._syncs.sync()
        if state.files.segments.active is not active:
            self.on_rolled()

    def roll(self) -> None:
        """Begin a segment at the end of what is written, with nothing staged. Raises StorageError.

        An active segment that is empty stays in its place.
        """
        state = self._state
        state.require_nothing_staged()
        if state.files.segments.active.size == 0:
            return
        try:
            state.files.roll_at_end(state.producers)
        except OSError as error:
            self._undo()
            raise StorageError(state.directory, f"rolling: {error}") from error
        state.end_at(state.written_end_offset)
        self.on_rolled()

    def drop_failed_write(self) -> None:
        """Cut off what a failed write left, if one did. Raises OSError."""
        state = self._state
        if state.write_failed:
            state.files.truncate_to(state.written_end_offset)
            state.write_failed = False

    def _undo(self) -> None:
        state = self._state
        state.write_failed = True
        with suppress(OSError):
            self.drop_failed_write()
        state.end_at(state.written_end_offset)

    def _write_staged(self) -> None:
        state = self._state
        if state.write_failed:
            raise OSError(EIO, "an earlier write failed and could not be undone yet")
        state.files.note_epochs()
        appender = state.appender
        if appender.runs:
            state.files.write(appender.runs)
            state.written_end_offset = appender.end_offset
            appender.keep()


def _do_nothing() -> None:
    pass
