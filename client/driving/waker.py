"""Ends another thread's wait for sockets."""

from __future__ import annotations

import os


class Waker:
    """A descriptor that becomes readable when `wake` is called."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def fileno(self) -> int:
        return self._fd

    def wake(self) -> None:
        os.eventfd_write(self._fd, 1)

    def forget(self) -> None:
        """Reset, however often it was woken."""
        os.eventfd_read(self._fd)

    def close(self) -> None:
        os.close(self._fd)
