from __future__ import annotations

from dataclasses import dataclass

from logquake.storage.cleaner.grouping import group_by_size


@dataclass(frozen=True)
class Sealed:
    base_offset: int
    size: int = 10
    offset_index_bytes: int = 8
    time_index_bytes: int = 12


def bases(
    segments: list[Sealed],
    *,
    max_bytes: int = 1_000,
    max_index_bytes: int = 1_000,
    end: int = 1_000,
) -> list[list[int]]:
    groups = group_by_size(
        segments, max_bytes=max_bytes, max_index_bytes=max_index_bytes, end_offset=end
    )
    return [[segment.base_offset for segment in group] for group in groups]


SEGMENTS = [Sealed(0), Sealed(10), Sealed(20), Sealed(30)]


def test_all_that_fits_becomes_one() -> None:
    assert bases(SEGMENTS) == [[0, 10, 20, 30]]
    assert bases([]) == []


def test_each_bound_ends_a_group() -> None:
    assert bases(SEGMENTS, max_bytes=20) == [[0, 10], [20, 30]]
    assert bases(SEGMENTS, max_bytes=1) == [[0], [10], [20], [30]]
    assert bases(SEGMENTS, max_index_bytes=36) == [[0, 10, 20], [30]]
    wide = [Sealed(0, offset_index_bytes=30), Sealed(10, offset_index_bytes=7), Sealed(20)]
    assert bases(wide, max_index_bytes=37) == [[0, 10], [20]]


def test_a_group_spans_no_more_offsets_than_an_index_can_hold() -> None:
    far = 2**31
    assert bases([Sealed(0), Sealed(5)], end=far) == [[0, 5]]
    assert bases([Sealed(0), Sealed(5)], end=far + 1) == [[0], [5]]
    assert bases([Sealed(0), Sealed(far), Sealed(far + 9)], end=far + 20) == [[0], [far, far + 9]]
    assert bases([Sealed(0), Sealed(5, size=0)], end=far + 1) == [[0, 5]]
