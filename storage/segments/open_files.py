"""A bound on the descriptors that the segments of many logs keep open.

Segments open their files when they are first used. Beyond the bound the one that was used longest
ago, about, lets go of its own and opens it again when needed: a segment that was used since it was
last looked at gets a second chance. Who reads a file, or sends from it, keeps it open meanwhile.
"""

from __future__ import annotations

from threading import Lock
from typing import Protocol

DEFAULT_LIMIT = 4_096


class Openable(Protocol):
    was_used: bool

    def let_go(self) -> None:
        """Give up the descriptor; closed() need not be told."""


class OpenFiles:
    """Safe to use from several threads: logs are opened on more than one."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        """limit is at least 1."""
        self._limit = limit
        self._lock = Lock()
        self._holders: dict[Openable, None] = {}  # in the order of their opening or second chance

    def __len__(self) -> int:
        return len(self._holders)

    def opened(self, holder: Openable) -> None:
        """The holder has opened a file; others may have to let go."""
        with self._lock:
            self._holders.pop(holder, None)
            self._holders[holder] = None
            spare = len(self._holders)  # nobody gets two second chances at once
            while len(self._holders) > self._limit:
                oldest = next(iter(self._holders))
                del self._holders[oldest]
                if oldest is holder or (oldest.was_used and spare > 0):
                    oldest.was_used = False
                    self._holders[oldest] = None
                    spare -= 1
                else:
                    oldest.let_go()

    def closed(self, holder: Openable) -> None:
        with self._lock:
            self._holders.pop(holder, None)
