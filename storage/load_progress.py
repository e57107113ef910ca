"""How far the opening of a log directory is: one thread opens, another one looks, or calls it off.

Plain numbers that one thread writes: whoever reads them may be one log behind.
"""

from __future__ import annotations

from logquake.storage.errors import LoadCancelledError


class LoadProgress:
    """``total`` is the number of logs in the directory, 0 until they were counted."""

    def __init__(self) -> None:
        self.total = 0
        self.opened = 0
        self.scanned_bytes = 0
        self._cancelled = False

    def cancel(self) -> None:
        """Let the opening end before its next log."""
        self._cancelled = True

    def check(self) -> None:
        """Raises LoadCancelledError."""
        if self._cancelled:
            raise LoadCancelledError(f"after {self.opened} of {self.total} logs")

    def note(self, scanned_bytes: int) -> None:
        """One more log is open."""
        self.scanned_bytes += scanned_bytes
        self.opened += 1
