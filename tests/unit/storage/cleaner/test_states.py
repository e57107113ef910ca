from __future__ import annotations

import pytest

from logquake.storage.cleaner.states import Aborted, CleaningStates, InProgress, Paused
from logquake.wire.topic_partition import TopicPartition

KEY = TopicPartition("orders", 3)


def test_what_was_not_aborted_counts_and_leaves_no_state() -> None:
    states = CleaningStates()
    states.begin(KEY)
    assert states.get(KEY) == InProgress()
    assert states.done(KEY)
    assert states.get(KEY) is None


def test_a_pause_aborts_and_then_holds_until_every_one_is_undone() -> None:
    states = CleaningStates()
    states.begin(KEY)
    states.pause(KEY)
    states.pause(KEY)
    assert states.get(KEY) == Aborted(2)
    assert not states.done(KEY)
    assert states.get(KEY) == Paused(2)
    with pytest.raises(RuntimeError):
        states.begin(KEY)
    states.resume(KEY)
    assert states.get(KEY) == Paused(1)
    states.resume(KEY)
    assert states.get(KEY) is None


def test_a_pause_undone_before_the_cleaner_noticed_leaves_an_abort() -> None:
    states = CleaningStates()
    states.begin(KEY)
    states.pause(KEY)
    states.resume(KEY)
    assert states.get(KEY) == Aborted(0)
    assert not states.done(KEY)
    assert states.get(KEY) is None


def test_a_pause_of_what_rests_is_a_pause() -> None:
    states = CleaningStates()
    states.pause(KEY)
    states.pause(KEY)
    assert states.get(KEY) == Paused(2)


def test_what_cannot_be_is_refused() -> None:
    states = CleaningStates()
    with pytest.raises(RuntimeError):
        states.resume(KEY)
    with pytest.raises(RuntimeError):
        states.done(KEY)
    states.begin(KEY)
    with pytest.raises(RuntimeError):
        states.resume(KEY)
