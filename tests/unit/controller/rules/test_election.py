"""Elections over every small combination of ISR and live replicas, and the rules one by one."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from logquake.controller.rules.election import (
    Candidates,
    Elected,
    NotElected,
    elect_for_controlled_shutdown,
    elect_preferred,
    elect_when_leader_is_lost,
    first_leader,
    without_replica,
)
from logquake.controller.rules.partitions import LeaderAndIsr, LeaderRecovery

CLEAN = elect_when_leader_is_lost(unclean_allowed=False)
UNCLEAN = elect_when_leader_is_lost(unclean_allowed=True)
ASSIGNED = (1, 2, 3)


def state(leader: int, *isr: int) -> LeaderAndIsr:
    return LeaderAndIsr(leader, leader_epoch=5, isr=isr, partition_epoch=9)


def candidates(*online: int, shutting_down: tuple[int, ...] = ()) -> Candidates:
    return Candidates(ASSIGNED, frozenset(online), frozenset(shutting_down))


def elected(outcome: Elected | NotElected) -> LeaderAndIsr:
    assert isinstance(outcome, Elected), outcome
    return outcome.state


def subsets(of: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(of, size) for size in range(len(of) + 1)))


@pytest.mark.parametrize("isr", [each for each in subsets(ASSIGNED) if each])
@pytest.mark.parametrize("online", subsets(ASSIGNED))
def test_clean_elections_stay_within_the_isr(isr: tuple[int, ...], online: tuple[int, ...]) -> None:
    outcome = CLEAN(candidates(*online), state(1, *isr))
    if not set(isr) & set(online):
        assert isinstance(outcome, NotElected)
        return
    after = elected(outcome)
    assert after.leader in after.isr
    assert set(after.isr) == set(isr) & set(online)
    assert (after.leader_epoch, after.partition_epoch) == (6, 9)


def test_order_of_assignment_decides_not_that_of_the_isr() -> None:
    assert elected(CLEAN(candidates(2, 3), state(1, 3, 2, 1))).leader == 2


def test_isr_keeps_its_order() -> None:
    assert elected(CLEAN(candidates(2, 3), state(1, 3, 1, 2))).isr == (3, 2)


def test_unclean_election_prefers_the_isr() -> None:
    outcome = UNCLEAN(candidates(1, 3), state(2, 3, 2))
    assert isinstance(outcome, Elected)
    assert (outcome.state.leader, outcome.unclean) == (3, False)


def test_unclean_leader_is_alone_and_recovering() -> None:
    outcome = UNCLEAN(candidates(2, 3), state(-1, 1))
    assert isinstance(outcome, Elected)
    assert outcome.unclean
    assert (outcome.state.leader, outcome.state.isr) == (2, (2,))
    assert outcome.state.recovery is LeaderRecovery.RECOVERING
    assert outcome.recipients == (2, 3)


def test_nobody_online_elects_nobody_even_uncleanly() -> None:
    assert isinstance(UNCLEAN(candidates(), state(-1, 1)), NotElected)


def test_a_clean_election_keeps_the_recovery_state() -> None:
    recovering = LeaderAndIsr(2, 5, (2, 3), 9, LeaderRecovery.RECOVERING)
    assert elected(CLEAN(candidates(3), recovering)).recovery is LeaderRecovery.RECOVERING


def test_preferred_replica_leads_with_the_same_isr() -> None:
    outcome = elect_preferred(candidates(1, 2), state(2, 2, 1, 3))
    assert elected(outcome) == LeaderAndIsr(1, 6, (2, 1, 3), 9)


@pytest.mark.parametrize(
    ("online", "isr", "reason"), [((2, 3), (1, 2), "not online"), ((1, 2), (2, 3), "not in ISR")]
)
def test_preferred_replica_must_be_online_and_in_sync(
    online: tuple[int, ...], isr: tuple[int, ...], reason: str
) -> None:
    outcome = elect_preferred(candidates(*online), state(2, *isr))
    assert isinstance(outcome, NotElected)
    assert reason in outcome.why


def test_controlled_shutdown_takes_every_leaving_broker_out() -> None:
    outcome = elect_for_controlled_shutdown(
        candidates(1, 2, 3, shutting_down=(1, 2)), state(1, 1, 2, 3)
    )
    assert elected(outcome) == LeaderAndIsr(3, 6, (3,), 9)
    assert isinstance(outcome, Elected)
    assert outcome.recipients == (1, 2, 3)


def test_controlled_shutdown_of_the_whole_isr_elects_nobody() -> None:
    outcome = elect_for_controlled_shutdown(candidates(1, 2, 3, shutting_down=(1,)), state(1, 1))
    assert isinstance(outcome, NotElected)


def test_first_leader_is_the_first_online_replica() -> None:
    assert first_leader(candidates(2, 3)) == LeaderAndIsr(2, 0, (2, 3), 0)
    assert isinstance(first_leader(candidates()), NotElected)


@pytest.mark.parametrize(
    ("before", "gone", "leader", "isr"),
    [
        (state(1, 1, 2), 2, 1, (1,)),
        (state(1, 1, 2), 1, -1, (2,)),
        (state(1, 1), 1, -1, (1,)),  # the last one stays: nobody else has everything
    ],
)
def test_offline_replicas_leave_the_isr(
    before: LeaderAndIsr, gone: int, leader: int, isr: tuple[int, ...]
) -> None:
    after = without_replica(before, gone)
    assert (after.leader, after.isr, after.leader_epoch) == (leader, isr, 6)
