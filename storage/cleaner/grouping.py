"""Which neighbouring segments become one (Cleaner.groupSegmentsBySize).

A group's segments fit into one segment as they are, logs and indexes, so what is left of them does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from logquake.storage.segments.segment import MAX_RELATIVE_OFFSET


class Sized(Protocol):
    """A sealed segment; sizes in bytes."""

    @property
    def base_offset(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def offset_index_bytes(self) -> int: ...

    @property
    def time_index_bytes(self) -> int: ...


S = TypeVar("S", bound=Sized)


def group_by_size(
    segments: Sequence[S], *, max_bytes: int, max_index_bytes: int, end_offset: int
) -> list[list[S]]:
    """The segments in order, in groups; end_offset is where the last one of them ends."""
    groups: list[list[S]] = []
    ends = [segment.base_offset for segment in segments[1:]]
    for segment, end in zip(segments, [*ends, end_offset], strict=False):
        if groups and _fits(groups[-1], segment, end, max_bytes, max_index_bytes):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _fits(group: list[S], segment: S, end: int, max_bytes: int, max_index_bytes: int) -> bool:
    together = [*group, segment]
    # An empty segment has no offsets that could be too far from the group's base.
    is_near = segment.size == 0 or end - 1 - group[0].base_offset <= MAX_RELATIVE_OFFSET
    return (
        is_near
        and sum(s.size for s in together) <= max_bytes
        and sum(s.offset_index_bytes for s in together) <= max_index_bytes
        and sum(s.time_index_bytes for s in together) <= max_index_bytes
    )
