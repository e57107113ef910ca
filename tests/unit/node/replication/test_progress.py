"""When a follower counts as caught up."""

from __future__ import annotations

from logquake.node.replication.partition.progress import FollowerProgress

LAG_MS = 1_000


def progress_after(*fetches: tuple[int, int, int]) -> FollowerProgress:
    """Fetches as (time, fetch offset, leader's end)."""
    progress = FollowerProgress()
    for now_ms, fetch_offset, leader_end in fetches:
        progress.record_fetch(fetch_offset, 0, leader_end, now_ms, -1)
    return progress


def test_nobody_is_caught_up_before_the_first_fetch() -> None:
    assert not FollowerProgress().is_caught_up(5, 0, LAG_MS)


def test_a_fetch_at_the_leaders_end_is_caught_up_now() -> None:
    assert progress_after((100, 5, 5)).last_caught_up_ms == 100


def test_constant_small_appends_count_by_the_previous_fetch() -> None:
    """Never at the leader's end, yet always where that was at the fetch before."""
    progress = progress_after((100, 5, 7), (200, 7, 9), (300, 9, 11))
    assert progress.last_caught_up_ms == 200
    assert progress.is_caught_up(11, 1_200, LAG_MS)
    assert not progress.is_caught_up(11, 1_201, LAG_MS)


def test_a_slow_follower_falls_behind_while_it_fetches() -> None:
    progress = progress_after((100, 5, 5), (1_000, 6, 50), (2_000, 7, 90))
    assert progress.last_caught_up_ms == 100
    assert not progress.is_caught_up(90, 2_000, LAG_MS)


def test_equal_log_ends_are_caught_up_whatever_the_time() -> None:
    assert progress_after((100, 5, 5)).is_caught_up(5, 1_000_000, LAG_MS)


def test_a_member_of_the_isr_gets_the_lag_time_at_a_new_epoch() -> None:
    progress = progress_after((100, 5, 9))
    progress.start_epoch(9, 5_000, in_isr=True)
    assert progress.is_caught_up(9, 6_000, LAG_MS)
    assert not progress.is_caught_up(9, 6_001, LAG_MS)


def test_who_is_outside_the_isr_does_not_hold_back_a_new_epoch() -> None:
    progress = progress_after((100, 9, 9))
    progress.start_epoch(12, 5_000, in_isr=False)
    assert not progress.is_caught_up(12, 5_000, LAG_MS)


def test_an_earlier_incarnation_is_stale_and_an_unknown_one_is_not() -> None:
    progress = FollowerProgress()
    progress.record_fetch(0, 0, 0, 0, 30)
    assert progress.is_stale(29)
    assert not progress.is_stale(30)
    assert not progress.is_stale(31)
    assert not progress.is_stale(-1)
