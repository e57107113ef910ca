"""What the platter has of a file: its old pages, as far as they were overwritten, and its old size.

Pages beyond the synced size were zeros, or nothing, and need no copy: what is appended costs
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from logquake.cluster.faults.power.unsynced import (
    PAGE_BYTES,
    Unsynced,
    reverted_pages,
    size_left,
)

NEVER = 0  # the number of the sync that there was before the record began


@dataclass(slots=True)
class _Since:
    """What was overwritten since a sync began: the content of pages as it was then, and the size.

    b"" is a page of zeros.
    """

    sync: int
    size: int
    pages: dict[int, bytes] = field(default_factory=dict)


class RecordedFile:
    """``place`` is where its bytes lie when the power goes, ``lost_bytes`` what it is shorter by
    then, None where nothing changed.

    A sync that has begun and not ended may have reached the platter or not: what was there before
    it is forgotten when it has ended.
    """

    def __init__(self, number: int, size: int, page_bytes: int = PAGE_BYTES) -> None:
        self.number = number
        self.place = ""
        self.lost_bytes: int | None = None
        self.syncs = NEVER  # the number of the last one that began
        self._page_bytes = page_bytes
        self._since = [_Since(NEVER, size)]
        self.covered = size  # by syncs: no page from here on need be saved

    def pages_to_save(self, start: int, end: int) -> Iterator[int]:
        """Of the pages that [start, end) touches, those whose content the platter may need."""
        latest = self._since[-1]
        end = min(end, self.covered)
        for page in range(start // self._page_bytes, -(-end // self._page_bytes)):
            if page not in latest.pages:
                yield page

    def save(self, page: int, content: bytes) -> None:
        self._since[-1].pages[page] = content

    def begin_sync(self, number: int, size: int) -> None:
        self.syncs = number
        self._since.append(_Since(number, size))
        self._cover()

    def end_sync(self, number: int) -> None:
        """Those that began before it are over too, since it covers what they do."""
        if any(since.sync == number for since in self._since):
            self._since = [since for since in self._since if since.sync >= number]
            self._cover()

    def forget(self, size: int) -> None:
        """All of it is on the platter."""
        self._since = [_Since(self.syncs, size)]
        self._cover()

    def _cover(self) -> None:
        self.covered = max(since.size for since in self._since)

    def lose_power(self, unsynced: Unsynced, rng: Random) -> None:
        """The bytes at its place are as the platter has them; nothing if none were ever made."""
        try:
            descriptor = os.open(self.place, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            self._revert(descriptor, unsynced, rng)
        finally:
            os.close(descriptor)

    def _revert(self, descriptor: int, unsynced: Unsynced, rng: Random) -> None:
        synced, size = self._since[0].size, os.fstat(descriptor).st_size
        old = {page: since.pages[page] for since in reversed(self._since) for page in since.pages}
        beyond = range(synced // self._page_bytes, -(-size // self._page_bytes))
        reverted = list(reverted_pages(sorted(old.keys() | set(beyond)), unsynced, rng))
        left = size_left(synced, size, unsynced, rng)
        os.ftruncate(descriptor, left)
        for page in reverted:
            if page * self._page_bytes < left:
                self._put_back(descriptor, page, old.get(page), synced)
        os.ftruncate(descriptor, left)  # what was put back may end beyond it
        if reverted or left != size:
            self.lost_bytes = max(0, size - left)

    def _put_back(self, descriptor: int, page: int, content: bytes | None, synced: int) -> None:
        """``content`` is None of a page that holds what is synced, if anything, as it was."""
        start = page * self._page_bytes
        if content is None:
            content = os.pread(descriptor, self._page_bytes, start)
        kept = content[: max(0, synced - start)]
        os.pwrite(descriptor, kept.ljust(self._page_bytes, b"\0"), start)
