"""Proposals of a new ISR, one rule at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from logquake.controller.rules.isr_change import (
    Accepted,
    AlreadySo,
    Proposal,
    Refused,
    Verdict,
    judge,
)
from logquake.controller.rules.partitions import LeaderAndIsr, LeaderRecovery
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

CURRENT = LeaderAndIsr(1, leader_epoch=5, isr=(1, 2), partition_epoch=9)
ASSIGNED = (1, 2, 3)
BROKERS = {1: 100, 2: 200, 3: 300, 4: 400}


def verdict(
    proposed: LeaderAndIsr,
    epochs: Mapping[int, int] | None = None,
    current: LeaderAndIsr | None = CURRENT,
) -> Verdict:
    proposal = Proposal(TopicPartition("orders", 0), proposed, epochs or {})
    return judge(proposal, current, ASSIGNED, BROKERS)


def code(outcome: Verdict) -> ErrorCode:
    assert isinstance(outcome, Refused), outcome
    return outcome.code


def test_expansion_and_shrinking_are_accepted() -> None:
    for isr in ((1, 2, 3), (1,)):
        proposed = replace(CURRENT, isr=isr)
        assert verdict(proposed) == Accepted(proposed)


@pytest.mark.parametrize(
    "proposed",
    [
        replace(CURRENT, isr=(1, 2, 3), partition_epoch=10),
        replace(CURRENT, isr=(1, 2, 3), leader_epoch=6),
    ],
    ids=["partition epoch", "leader epoch"],
)
def test_later_epochs_than_known_mean_another_controller(proposed: LeaderAndIsr) -> None:
    assert code(verdict(proposed)) is ErrorCode.NOT_CONTROLLER


def test_an_earlier_leader_epoch_is_fenced() -> None:
    proposed = replace(CURRENT, isr=(1, 2, 3), leader_epoch=4)
    assert code(verdict(proposed)) is ErrorCode.FENCED_LEADER_EPOCH


def test_an_earlier_partition_epoch_is_refused_unless_it_led_to_what_is() -> None:
    earlier = replace(CURRENT, partition_epoch=8)
    assert verdict(earlier) == AlreadySo(CURRENT)
    assert code(verdict(replace(earlier, isr=(1,)))) is ErrorCode.INVALID_UPDATE_VERSION


@pytest.mark.parametrize(
    "proposed",
    [
        replace(CURRENT, leader=2, isr=(1, 2, 3)),
        replace(CURRENT, isr=(2, 3)),
        replace(CURRENT, isr=(1, 2, 4)),
        replace(CURRENT, isr=()),
    ],
    ids=["not the leader", "without the leader", "beyond the assignment", "empty"],
)
def test_what_no_leader_would_propose_is_invalid(proposed: LeaderAndIsr) -> None:
    assert code(verdict(proposed)) is ErrorCode.INVALID_REQUEST


def test_a_recovering_leader_is_alone() -> None:
    recovering = replace(CURRENT, isr=(1,), recovery=LeaderRecovery.RECOVERING)
    proposed = replace(recovering, isr=(1, 2))
    assert code(verdict(proposed, current=recovering)) is ErrorCode.INVALID_REQUEST


def test_recovery_ends_and_does_not_begin_again() -> None:
    recovering = replace(CURRENT, isr=(1,), recovery=LeaderRecovery.RECOVERING)
    recovered = replace(recovering, recovery=LeaderRecovery.RECOVERED)
    assert verdict(recovered, current=recovering) == Accepted(recovered)
    assert code(verdict(recovering)) is ErrorCode.INVALID_REQUEST


def test_a_leader_that_shuts_down_may_still_take_followers_in() -> None:
    alone = replace(CURRENT, isr=(1,))
    proposal = Proposal(TopicPartition("orders", 0), replace(alone, isr=(1, 2)), {1: 100, 2: 200})
    assert judge(proposal, alone, ASSIGNED, {2: 200}) == Accepted(proposal.state)


def test_who_joins_must_be_active() -> None:
    proposal = Proposal(TopicPartition("orders", 0), replace(CURRENT, isr=(1, 2, 3)), {})
    outcome = judge(proposal, CURRENT, ASSIGNED, {1: 100, 2: 200})
    assert code(outcome) is ErrorCode.INELIGIBLE_REPLICA


def test_members_must_be_in_the_life_in_which_they_were_seen() -> None:
    proposed = replace(CURRENT, isr=(1, 2, 3))
    assert verdict(proposed, {3: 300, 2: -1}) == Accepted(proposed)
    for epoch in (299, 301):
        assert code(verdict(proposed, {3: epoch})) is ErrorCode.INELIGIBLE_REPLICA


def test_a_partition_without_a_state_is_unknown() -> None:
    assert code(verdict(CURRENT, current=None)) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
