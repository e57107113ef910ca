"""What a coordinator is to be asked has its time, each question its own."""

from __future__ import annotations

from logquake.client.consumer.group.unsent import Question, Unsent
from logquake.wire.messages.group_membership import HeartbeatRequest, HeartbeatResponse


def question(timeout_ms: int | None = None) -> Question:
    def build(_: int) -> HeartbeatRequest:
        raise AssertionError("nothing is sent here")

    return Question(HeartbeatRequest, HeartbeatResponse, build, lambda *_: None, timeout_ms)


def test_what_has_less_time_is_overdue_before_what_was_asked_first() -> None:
    patient, first, second = question(300), question(), question()
    unsent = Unsent(100)
    unsent.add(patient)
    unsent.add(first)
    unsent.keep(1_000)
    unsent.add(second)
    unsent.keep(1_050)
    assert unsent.next_due_ms() == 1_100
    assert unsent.take_overdue(1_099) == []
    assert unsent.take_overdue(1_100) == [first]
    assert unsent.next_due_ms() == 1_150
    assert (unsent.take_next(), unsent.take_next(), unsent.take_next()) == (patient, second, None)
    assert unsent.next_due_ms() is None


def test_what_is_new_has_its_time_from_the_next_look_at_the_clock() -> None:
    first, second = question(), question()
    unsent = Unsent(100)
    unsent.add(first)
    unsent.keep(1_000)
    unsent.add(second)
    assert unsent.take_overdue(5_000) == [first]
    assert unsent
    assert unsent.take_all() == [second]
    assert not unsent


def test_what_has_left_is_overdue_no_more() -> None:
    unsent = Unsent(100)
    unsent.add(question())
    unsent.keep(1_000)
    unsent.take_next()
    later = question()
    unsent.add(later)
    unsent.keep(1_090)
    assert unsent.take_overdue(1_100) == []
    assert unsent.next_due_ms() == 1_190
