"""Where the latest batches of the active segment lie, so that the reads of followers and of
consumers at the tail find their batch without touching the file.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

_KEPT = 256


class BatchPlace(NamedTuple):
    """One batch in a segment's file: byte position, base offset, size in bytes."""

    position: int
    base_offset: int
    last_offset: int
    size: int


class RecentBatches:
    def __init__(self) -> None:
        self._places: list[BatchPlace] = []
        self._last_offsets: list[int] = []

    def add(self, place: BatchPlace) -> None:
        self._places.append(place)
        self._last_offsets.append(place.last_offset)
        if len(self._places) > 2 * _KEPT:
            del self._places[:_KEPT]
            del self._last_offsets[:_KEPT]

    def find(self, offset: int) -> BatchPlace | None:
        """The batch that holds offset, or the first after it; None when not remembered."""
        places = self._places
        if not places or offset < places[0].base_offset:
            return None
        index = bisect_left(self._last_offsets, offset)
        return places[index] if index < len(places) else None

    def clear(self) -> None:
        self._places.clear()
        self._last_offsets.clear()
