"""Cutting ranges into tasks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from logquake.pipeline.source.planning import OffsetRange, limit_ranges, split_ranges

ranges = st.lists(
    st.builds(
        lambda partition, start, size: OffsetRange("t", partition, start, start + size),
        st.integers(0, 5),
        st.integers(0, 1000),
        st.integers(1, 1000),
    ),
    max_size=6,
)


def test_few_tasks_are_one_a_partition() -> None:
    whole = [OffsetRange("t", 0, 0, 100), OffsetRange("t", 1, 5, 6)]
    assert split_ranges(whole, 2) == whole


def test_large_ranges_are_cut_in_proportion_to_their_share() -> None:
    whole = [OffsetRange("t", 0, 0, 300), OffsetRange("t", 1, 0, 100)]
    assert split_ranges(whole, 4) == [
        OffsetRange("t", 0, 0, 100),
        OffsetRange("t", 0, 100, 200),
        OffsetRange("t", 0, 200, 300),
        OffsetRange("t", 1, 0, 100),
    ]


def test_no_task_is_empty_where_there_is_little_to_read() -> None:
    assert split_ranges([OffsetRange("t", 0, 7, 9)], 10) == [
        OffsetRange("t", 0, 7, 8),
        OffsetRange("t", 0, 8, 9),
    ]


@given(whole=ranges, limit=st.integers(1, 400))
def test_no_piece_is_longer_than_it_may_be(whole: list[OffsetRange], limit: int) -> None:
    pieces = limit_ranges(whole, limit)
    assert all(0 < piece.size <= limit for piece in pieces)
    assert sum(piece.size for piece in pieces) == sum(each.size for each in whole)
    assert limit_ranges(whole, 0) == whole


@given(whole=ranges, count=st.integers(0, 40))
def test_the_pieces_are_the_whole_in_order_and_none_is_empty(
    whole: list[OffsetRange], count: int
) -> None:
    pieces = split_ranges(whole, count)
    assert all(piece.size > 0 for piece in pieces)
    covered = [(p.partition, offset) for p in pieces for offset in range(p.start, p.end)]
    assert covered == [(w.partition, offset) for w in whole for offset in range(w.start, w.end)]
