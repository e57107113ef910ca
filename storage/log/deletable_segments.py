"""Which segments of a log are too many (UnifiedLog.deletableSegments and its three predicates).

Pure but for the newest record's time, for which a segment may read its index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from logquake.storage.segments.segment import Segment

# A segment and the base offset of the next one, None for the active segment.
Predicate = Callable[[Segment, int | None], bool]


def deletable(
    segments: Sequence[Segment], end_offset: int, high_watermark: int, predicate: Predicate
) -> list[Segment]:
    """The oldest segments as long as the predicate holds, none beyond the high watermark.

    The active segment may be among them, unless it is empty: it must then be rolled first.
    """
    found = []
    for index, segment in enumerate(segments):
        following = segments[index + 1].base_offset if index + 1 < len(segments) else None
        upper_bound = end_offset if following is None else following
        if high_watermark < upper_bound or not predicate(segment, following):
            break
        if following is None and segment.size == 0:
            break
        found.append(segment)
    return found


def before_start(start_offset: int) -> Predicate:
    """The whole segment lies before the log's start."""
    return lambda _, following: following is not None and following <= start_offset


def oversized(size: int, retention_bytes: int) -> Predicate:
    """Without the segment the log has still retention.bytes. Asked in order, once of each."""
    surplus = size - retention_bytes

    def predicate(segment: Segment, _: int | None) -> bool:
        nonlocal surplus
        if surplus < segment.size:
            return False
        surplus -= segment.size
        return True

    return predicate


def expired(
    now_ms: int, retention_ms: int, newest_record_ms: Callable[[Segment], int]
) -> Predicate:
    """The segment's newest record is older than retention.ms."""
    return lambda segment, _: now_ms - newest_record_ms(segment) > retention_ms
