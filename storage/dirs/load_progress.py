"""How far the opening of a log directory is: one thread opens, another one looks, or calls it off.

Whoever reads the numbers may be a few megabytes behind.
"""

from __future__ import annotations

from threading import Lock

from logquake.storage.errors import LoadCancelledError


class LoadProgress:
    """``total`` is the number of logs in the directory, 0 until they were counted."""

    def __init__(self) -> None:
        self.total = 0
        self.opened = 0
        self.scanned_bytes = 0
        self._cancelled = False
        self._lock = Lock()  # logs are opened on several threads

    def cancel(self) -> None:
        """Let the opening end soon."""
        self._cancelled = True

    def check(self) -> None:
        """Raises LoadCancelledError."""
        if self._cancelled:
            raise LoadCancelledError(f"after {self.opened} of {self.total} logs")

    def scanned(self, size: int) -> None:
        """So many bytes more. Raises LoadCancelledError."""
        with self._lock:
            self.scanned_bytes += size
        self.check()

    def note_opened(self) -> None:
        """One more log is open."""
        with self._lock:
            self.opened += 1
