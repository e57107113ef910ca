"""What every Scheduler does, a broker's own loop and those that stand for it alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import pytest

from logquake.node.net.loop import EventLoop
from logquake.seams.scheduler import Scheduler
from tests.doubles.clock import ManualClock
from tests.doubles.scheduler import ManualScheduler, MortalScheduler
from tests.sim.clock import Clock as SimClock
from tests.sim.host import Host, HostScheduler


@dataclass
class Time:
    """A scheduler, and how to let time pass for it."""

    scheduler: Scheduler
    pass_ms: Callable[[int], None]


def _manual() -> Iterator[Time]:
    scheduler = ManualScheduler()
    yield Time(scheduler, scheduler.advance)


def _mortal() -> Iterator[Time]:
    scheduler = ManualScheduler()
    yield Time(MortalScheduler(scheduler), scheduler.advance)


def _simulated() -> Iterator[Time]:
    clock = SimClock()
    scheduler = HostScheduler(Host("broker-1", clock))

    def pass_ms(duration_ms: int) -> None:
        passed: list[bool] = []
        clock.after(duration_ms * 1000, "the test goes on", lambda: passed.append(True))
        while not passed:
            event = clock.next_event()
            assert event is not None
            assert event.action is not None
            event.action()

    yield Time(scheduler, pass_ms)


def _real() -> Iterator[Time]:
    clock = ManualClock()
    loop = EventLoop(monotonic_ns=clock.ns)

    def pass_ms(duration_ms: int) -> None:
        for _ in range(duration_ms):
            clock.advance_ms(1)
            loop.run_pass(max_wait_ms=0)

    yield Time(loop, pass_ms)
    loop.close()


@pytest.fixture(params=[_manual, _mortal, _simulated, _real], ids=lambda make: make.__name__[1:])
def time(request: pytest.FixtureRequest) -> Iterator[Time]:
    yield from request.param()


def test_actions_come_in_the_order_of_their_time_and_ties_as_they_were_asked_for(
    time: Time,
) -> None:
    done: list[str] = []
    for name, delay_ms in (("late", 5), ("first", 2), ("second", 2)):
        time.scheduler.call_later(delay_ms, partial(done.append, name))
    time.pass_ms(1)
    assert done == []
    time.pass_ms(3)
    assert done == ["first", "second"]
    time.pass_ms(3)
    assert done == ["first", "second", "late"]


def test_nothing_is_done_from_within_call_later(time: Time) -> None:
    done: list[str] = []
    time.scheduler.call_later(0, lambda: done.append("asked"))
    assert done == []
    time.pass_ms(1)
    assert done == ["asked"]


def test_an_action_is_done_at_its_time_or_later_never_before(time: Time) -> None:
    begun_ms = time.scheduler.now_ms()
    seen: list[int] = []
    time.scheduler.call_later(3, lambda: seen.append(time.scheduler.now_ms()))
    time.pass_ms(10)
    assert seen == [begun_ms + 3]
    assert time.scheduler.now_ms() == begun_ms + 10


def test_what_is_cancelled_is_not_done_also_when_it_is_due_already(time: Time) -> None:
    done: list[str] = []
    time.scheduler.call_later(2, lambda: other.cancel())  # noqa: PLW0108 (made below)
    other = time.scheduler.call_later(2, lambda: done.append("other"))
    time.scheduler.call_later(1, lambda: done.append("gone")).cancel()
    time.pass_ms(5)
    assert done == []


def test_cancelling_twice_or_too_late_does_nothing(time: Time) -> None:
    done: list[str] = []
    timer = time.scheduler.call_later(1, lambda: done.append("once"))
    time.pass_ms(2)
    timer.cancel()
    timer.cancel()
    time.pass_ms(2)
    assert done == ["once"]


def test_an_action_may_ask_for_another(time: Time) -> None:
    done: list[int] = []

    def again() -> None:
        done.append(time.scheduler.now_ms())
        if len(done) < 3:
            time.scheduler.call_later(2, again)

    begun_ms = time.scheduler.now_ms()
    time.scheduler.call_later(2, again)
    time.pass_ms(10)
    assert done == [begun_ms + 2, begun_ms + 4, begun_ms + 6]


def test_timers_die_with_their_process() -> None:
    scheduler = ManualScheduler()
    one, other = MortalScheduler(scheduler), MortalScheduler(scheduler)
    done: list[str] = []
    one.call_later(1, lambda: done.append("one"))
    other.call_later(1, lambda: done.append("other"))
    one.die()
    scheduler.advance(2)
    assert done == ["other"]


def test_what_is_due_can_be_taken_one_by_one() -> None:
    scheduler = ManualScheduler()
    scheduler.call_later(0, lambda: None)
    scheduler.call_later(3, lambda: None)
    scheduler.call_later(9, lambda: None)
    assert scheduler.take_due() is not None
    assert scheduler.take_due() is None
    assert scheduler.take_due(5) is not None
    assert scheduler.now_ms() == 3
    assert scheduler.take_due(5) is None
