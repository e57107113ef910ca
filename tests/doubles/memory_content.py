"""The content of MemoryDisk's files: sparse pages that remember what was last synced."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from logquake.cluster.faults.power.unsynced import (
    PAGE_BYTES,
    Unsynced,
    reverted_pages,
    size_left,
)
from logquake.storage.disk.seam import Buffer


class MemoryContent:
    """One file's bytes, as the page cache holds them and as the platter does.

    Untouched pages cost nothing, so Kafka's zero-filled index files stay cheap. ``_unsynced``
    keeps, for every page changed since the last sync, the content that the platter has.
    """

    __slots__ = ("_pages", "_synced_size", "_unsynced", "_zeros", "modified_ms", "size")

    def __init__(self, page_bytes: int = PAGE_BYTES) -> None:
        self.size = 0
        self.modified_ms = 0  # there is no clock here: as it was set
        self._zeros = bytes(page_bytes)
        self._synced_size = 0
        self._pages: dict[int, bytes] = {}
        self._unsynced: dict[int, bytes] = {}

    def __deepcopy__(self, memo: dict[int, object]) -> MemoryContent:
        other = MemoryContent(len(self._zeros))
        memo[id(self)] = other
        other.size, other._synced_size = self.size, self._synced_size
        other.modified_ms = self.modified_ms
        other._pages, other._unsynced = dict(self._pages), dict(self._unsynced)
        return other

    def read(self, size: int, position: int) -> bytes:
        end = min(position + size, self.size)
        parts = [
            self._pages.get(page, self._zeros)[start:stop]
            for page, start, stop in self._spans(position, end)
        ]
        return b"".join(parts)

    def write(self, data: Buffer, position: int) -> None:
        view = memoryview(data)
        taken = 0
        for page, start, stop in self._spans(position, position + len(view)):
            piece = bytes(view[taken : taken + stop - start])
            taken += stop - start
            old = self._pages.get(page, self._zeros)
            self._change(page, old[:start] + piece + old[stop:])
        self.size = max(self.size, position + len(view))

    def write_all(self, buffers: Sequence[Buffer], position: int) -> int:
        start = position
        for data in buffers:
            self.write(data, position)
            position += len(data)
        return position - start

    def truncate(self, size: int) -> None:
        boundary = size // len(self._zeros)
        for page in [page for page in self._pages if page >= boundary]:
            kept = self._pages[page][: size % len(self._zeros)] if page == boundary else b""
            self._change(page, kept + self._zeros[len(kept) :])
        self.size = size

    def sync(self) -> None:
        self._unsynced.clear()
        self._synced_size = self.size

    def lose_power(self, unsynced: Unsynced, rng: random.Random) -> None:
        for page in reverted_pages(sorted(self._unsynced), unsynced, rng):
            self._pages[page] = self._unsynced[page]
        self.truncate(size_left(self._synced_size, self.size, unsynced, rng))
        self.sync()

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The byte range [start, end), cut where pages begin."""
        page_bytes = len(self._zeros)
        for page, first, last in self._spans(start, end):
            yield page * page_bytes + first, page * page_bytes + last

    def _change(self, page: int, content: bytes) -> None:
        self._unsynced.setdefault(page, self._pages.get(page, self._zeros))
        self._pages[page] = content

    def _spans(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """(page number, first, last + 1 byte within the page) for the byte range [start, end)."""
        page_bytes = len(self._zeros)
        while start < end:
            page, offset = divmod(start, page_bytes)
            stop = min(page_bytes, offset + end - start)
            yield page, offset, stop
            start += stop - offset
