"""What a consumer wants, and what it was assigned."""

from __future__ import annotations

import re

import pytest

from logquake.client.consumer.position import FetchPosition, LeaderAndEpoch
from logquake.client.consumer.settings import OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.errors import NoOffsetForPartitionError, NotAssignedError
from logquake.wire.topic_partition import TopicPartition

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


def test_topics_a_pattern_and_partitions_exclude_each_other() -> None:
    subscriptions = Subscriptions(OffsetReset.LATEST)
    assert subscriptions.subscribe(["t"])
    assert not subscriptions.subscribe(["t"])
    with pytest.raises(ValueError, match="exclude each other"):
        subscriptions.assign([FIRST])
    with pytest.raises(ValueError, match="exclude each other"):
        subscriptions.subscribe_pattern(re.compile("t"), [])
    subscriptions.unsubscribe()
    subscriptions.assign([FIRST])
    with pytest.raises(ValueError, match="assigns nothing"):
        subscriptions.assign_from_group([SECOND])


def test_a_pattern_matches_whole_names_and_says_when_others_do() -> None:
    subscriptions = Subscriptions(OffsetReset.LATEST)
    subscriptions.subscribe_pattern(re.compile("t.?"), ["t", "s"])
    assert subscriptions.topics == {"t"}
    assert subscriptions.match(["t", "tt", "ttt", "s"])
    assert subscriptions.topics == {"t", "tt"}
    assert not subscriptions.match(["t", "tt"])
    assert not subscriptions.is_wanted([TopicPartition("ttt", 0)])
    subscriptions.subscribe_pattern(re.compile("s"), ["t"])
    assert subscriptions.topics == set()


def test_a_leader_knows_of_the_topics_of_all() -> None:
    subscriptions = Subscriptions(OffsetReset.LATEST)
    subscriptions.subscribe(["t"])
    assert subscriptions.group_wants(["s", "t"])
    assert subscriptions.metadata_topics == {"s", "t"}
    subscriptions.leads_no_more()
    assert subscriptions.metadata_topics == {"t"}


def test_what_stays_goes_on_and_what_is_new_waits_for_the_callback() -> None:
    subscriptions = Subscriptions(OffsetReset.LATEST)
    subscriptions.subscribe(["t"])
    subscriptions.assign_from_group([FIRST])
    subscriptions.of(FIRST).seek(FetchPosition(5))
    assert subscriptions.fetchable(0) == []
    subscriptions.callback_done([FIRST])
    subscriptions.assign_from_group([SECOND, FIRST])
    subscriptions.of(SECOND).seek(FetchPosition(7))
    assert subscriptions.fetchable(0) == [FIRST]
    subscriptions.being_revoked([FIRST])
    assert subscriptions.fetchable(0) == []
    assert subscriptions.consumed() == {FIRST: FetchPosition(5), SECOND: FetchPosition(7)}


def test_who_was_served_goes_to_the_end() -> None:
    subscriptions = Subscriptions(OffsetReset.LATEST)
    subscriptions.assign([FIRST, SECOND])
    for place in (FIRST, SECOND):
        subscriptions.of(place).seek(FetchPosition(0))
    subscriptions.to_end(FIRST)
    assert subscriptions.fetchable(0) == [SECOND, FIRST]


@pytest.mark.parametrize("can_validate", [False, True])
def test_a_new_leader_is_asked_at_once_though_the_last_one_has_refused(can_validate: bool) -> None:
    last, new = LeaderAndEpoch(1, 4), LeaderAndEpoch(2, 5)
    subscriptions = Subscriptions(OffsetReset.LATEST)
    subscriptions.assign([FIRST])
    state = subscriptions.of(FIRST)
    state.seek(FetchPosition(0, leader=last))
    state.leave_alone(100)
    state.follow(last, can_validate=can_validate)
    assert subscriptions.fetchable(99) == []
    state.follow(new, can_validate=can_validate)
    assert subscriptions.fetchable(0) == [FIRST]


def test_a_reset_that_comes_too_late_changes_nothing() -> None:
    subscriptions = Subscriptions(OffsetReset.LATEST)
    subscriptions.assign([FIRST, SECOND])
    subscriptions.reset_initializing()
    subscriptions.of(FIRST).retry_at(100)
    assert subscriptions.needing_reset(99) == {SECOND: OffsetReset.LATEST}
    assert subscriptions.needing_reset(100).keys() == {FIRST, SECOND}
    subscriptions.of(FIRST).seek(FetchPosition(5))
    subscriptions.was_reset(FIRST, OffsetReset.LATEST, FetchPosition(9))
    subscriptions.was_reset(SECOND, OffsetReset.EARLIEST, FetchPosition(0))
    assert subscriptions.consumed() == {FIRST: FetchPosition(5)}
    subscriptions.was_reset(SECOND, OffsetReset.LATEST, FetchPosition(9))
    assert subscriptions.consumed().keys() == {FIRST, SECOND}


def test_without_a_policy_the_program_is_told() -> None:
    subscriptions = Subscriptions(OffsetReset.NONE)
    subscriptions.assign([FIRST])
    with pytest.raises(NoOffsetForPartitionError, match="t-0"):
        subscriptions.reset_initializing()
    with pytest.raises(NotAssignedError):
        subscriptions.of(SECOND)
