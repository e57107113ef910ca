"""Ends another thread's wait for sockets."""

from __future__ import annotations

import os


class Waker:
    """A descriptor that is readable once somebody has woken whoever waits for it."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def fileno(self) -> int:
        return self._fd

    def wake(self) -> None:
        os.eventfd_write(self._fd, 1)

    def forget(self) -> None:
        """However often it was woken."""
        os.eventfd_read(self._fd)

    def close(self) -> None:
        os.close(self._fd)
