"""How far the opening of a log directory is: one thread opens, another one looks, or calls it off.

Whoever reads the numbers may be a few megabytes behind.
"""

from __future__ import annotations

from threading import Lock

from logquake.storage.errors import LoadCancelledError
from logquake.storage.log.recovery import RecoveryReport


class LoadProgress:
    """``total`` is the number of logs in the directory, 0 until they were counted.

    ``repairs`` are the folders of logs that something was cut off, and what, even if the directory
    as a whole could not be opened in the end.
    """

    def __init__(self) -> None:
        self.total = 0
        self.opened = 0
        self.scanned_bytes = 0
        self.repairs: list[tuple[str, RecoveryReport]] = []
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

    def note_opened(self, directory: str, recovery: RecoveryReport) -> None:
        """One more log is open."""
        with self._lock:
            self.opened += 1
            if recovery.truncated_bytes:
                self.repairs.append((directory, recovery))
