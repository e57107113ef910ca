"""The segments of one log, by base offset; the last one is active."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from logquake.storage.disk import Disk
from logquake.storage.log_config import LogConfig
from logquake.storage.segment import Segment


class Segments:
    """Never empty once the log is open. All writing methods raise OSError."""

    def __init__(self, disk: Disk, directory: str, config: LogConfig) -> None:
        self._disk = disk
        self._directory = directory
        self.config = config  # of the segments to come
        self._segments: list[Segment] = []
        self._base_offsets: list[int] = []

    def __iter__(self) -> Iterator[Segment]:
        return iter(tuple(self._segments))

    def __len__(self) -> int:
        return len(self._segments)

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def active(self) -> Segment:
        return self._segments[-1]

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self._segments)

    def open_existing(self, base_offset: int) -> None:
        self._add(Segment.open(self._disk, self._directory, base_offset, self.config))

    def roll(self, base_offset: int) -> None:
        """Seal the active segment, if any, and begin the next."""
        if self._segments:
            self.active.seal()
        self._add(self._create(base_offset))

    def restart_at(self, base_offset: int) -> None:
        """One empty segment in place of all others; it is made first, to have one in any case."""
        fresh = self._create(base_offset)
        old = self._segments
        self._segments, self._base_offsets = [], []
        self._add(fresh)
        for segment in reversed(old):
            if segment.base_offset != base_offset:
                segment.delete()

    def from_offset(self, offset: int) -> list[Segment]:
        """The segment that offset belongs to, and all later ones."""
        return self._segments[max(0, bisect_right(self._base_offsets, offset) - 1) :]

    def unsynced(self, recovery_point: int) -> list[Segment]:
        """Those that are not wholly synced when everything before recovery_point is.

        The one that ends there is among them: while it was active its indexes were not synced.
        """
        return self.from_offset(max(0, recovery_point - 1))

    def after(self, segment: Segment) -> Segment | None:
        index = bisect_right(self._base_offsets, segment.base_offset)
        return self._segments[index] if index < len(self._segments) else None

    def delete_after(self, offset: int) -> list[int]:
        """Delete the segments that begin after offset, latest first; their base offsets."""
        deleted = []
        while self._segments and self.active.base_offset > offset:
            segment = self._pop()
            segment.delete()
            deleted.append(segment.base_offset)
        return deleted

    def release(self) -> None:
        for segment in self._segments:
            segment.release()

    def _create(self, base_offset: int) -> Segment:
        return Segment.create(self._disk, self._directory, base_offset, self.config)

    def _add(self, segment: Segment) -> None:
        self._segments.append(segment)
        self._base_offsets.append(segment.base_offset)

    def _pop(self) -> Segment:
        self._base_offsets.pop()
        return self._segments.pop()
