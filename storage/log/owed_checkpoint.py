"""An offset that fell below what its directory's checkpoint says of it.

A checkpoint above it would have recovery trust, or a cleaning pass over, what is written there
anew. So nothing is cut before the checkpoint is written.
"""

from __future__ import annotations

from collections.abc import Callable


class OwedCheckpoint:
    """``write`` has the checkpoint written, all of its logs in it. Raises StorageError."""

    def __init__(self) -> None:
        self.write: Callable[[], None] = _do_nothing
        self.is_owed = False

    def settle(self) -> None:
        """Have it written if it is owed. Raises StorageError, and it is owed still."""
        if self.is_owed:
            self.write()
            self.is_owed = False


def _do_nothing() -> None:
    pass
