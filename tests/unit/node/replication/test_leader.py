"""A leader's pure decisions: the high watermark, who may join the ISR and who must leave."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.node.replication.partition.isr import CommittedIsr
from logquake.node.replication.partition.roles import Leader

LAG_MS = 1_000
NOW_MS = 10_000


@pytest.fixture
def make_leader() -> Callable[..., Leader]:
    def make(isr: tuple[int, ...], ends: dict[int, int], leader_end: int = 10) -> Leader:
        """Broker 1 leads; ends are the followers' log ends, fetched just now."""
        leader = Leader(1)
        leader.assign((1, *ends), CommittedIsr(isr))
        for replica, end in ends.items():
            leader.followers[replica].record_fetch(end, 0, leader_end, NOW_MS, -1)
        return leader

    return make


def mark_of(leader: Leader, *, alive: tuple[int, ...] = (1, 2, 3), now_ms: int = NOW_MS) -> int:
    return leader.next_high_watermark(10, now_ms, LAG_MS, alive.__contains__)


def test_the_slowest_member_sets_the_mark(make_leader: Callable[..., Leader]) -> None:
    assert mark_of(make_leader((1, 2, 3), {2: 7, 3: 4})) == 4


def test_a_laggard_outside_the_isr_does_not(make_leader: Callable[..., Leader]) -> None:
    assert mark_of(make_leader((1, 2), {2: 7, 3: 4})) == 7


def test_one_that_is_caught_up_and_alive_does(make_leader: Callable[..., Leader]) -> None:
    leader = make_leader((1, 2), {2: 10, 3: 8}, leader_end=8)
    assert mark_of(leader) == 8
    assert mark_of(leader, alive=(1, 2)) == 10
    assert mark_of(leader, now_ms=NOW_MS + LAG_MS + 1) == 10


def test_a_pending_member_holds_the_mark_back(make_leader: Callable[..., Leader]) -> None:
    leader = make_leader((1, 2), {2: 10, 3: 8})
    leader.isr = CommittedIsr((1, 2)).expand(3)
    assert mark_of(leader) == 8


def test_a_leaving_member_holds_the_mark_back(make_leader: Callable[..., Leader]) -> None:
    leader = make_leader((1, 2), {2: 6})
    leader.isr = CommittedIsr((1, 2)).shrink((2,))
    assert mark_of(leader) == 6


def test_a_member_not_heard_of_yet_stops_the_mark(make_leader: Callable[..., Leader]) -> None:
    leader = make_leader((1, 2, 3), {2: 10})
    leader.assign((1, 2, 3), CommittedIsr((1, 2, 3)))
    assert mark_of(leader) == -1


def test_alone_the_mark_is_the_log_end(make_leader: Callable[..., Leader]) -> None:
    assert mark_of(make_leader((1,), {})) == 10


def test_joining_takes_the_mark_and_the_epochs_start(make_leader: Callable[..., Leader]) -> None:
    leader = make_leader((1,), {2: 7})
    leader.epoch_start_offset = 7
    assert leader.may_join(2, 7)
    assert not leader.may_join(2, 8)
    leader.epoch_start_offset = 8
    assert not leader.may_join(2, 3)


def test_who_lags_or_was_unassigned_is_out_of_sync(make_leader: Callable[..., Leader]) -> None:
    leader = make_leader((3, 1, 2, 4), {2: 9, 3: 9})
    later = NOW_MS + LAG_MS + 1
    assert leader.out_of_sync(10, later, LAG_MS) == (3, 2, 4)
    leader.followers[2].record_fetch(10, 0, 10, later, -1)
    assert leader.out_of_sync(10, later, LAG_MS) == (3, 4)


def test_reassignment_keeps_the_progress_of_those_who_stay(
    make_leader: Callable[..., Leader],
) -> None:
    leader = make_leader((1, 2), {2: 7, 3: 4})
    leader.assign((1, 2, 4), CommittedIsr((1, 2)))
    assert [(r, p.log_end) for r, p in leader.followers.items()] == [(2, 7), (4, -1)]


def test_a_minimum_above_the_replicas_counts_as_their_number(
    make_leader: Callable[..., Leader],
) -> None:
    leader = make_leader((1, 2), {2: 7})
    assert leader.effective_min_isr(3) == 2
    assert leader.has_min_isr(3)
