from __future__ import annotations

from functools import partial

from logquake.node.net.timers import TimerQueue


def test_actions_run_in_due_order_and_ties_in_order_of_addition() -> None:
    ran: list[str] = []
    timers = TimerQueue()
    timers.add(20, lambda: ran.append("late"))
    timers.add(10, lambda: ran.append("first"))
    timers.add(10, lambda: ran.append("second"))
    timers.run_due(15)
    assert ran == ["first", "second"]
    timers.run_due(20)
    assert ran == ["first", "second", "late"]


def test_a_cancelled_timer_neither_runs_nor_wakes_the_loop() -> None:
    timers = TimerQueue()
    timers.add(10, lambda: (_ for _ in ()).throw(AssertionError("ran"))).cancel()
    timers.add(30, lambda: None)
    assert timers.next_due_ms() == 30
    timers.run_due(20)


def test_an_action_can_cancel_one_that_is_due_with_it() -> None:
    ran: list[str] = []
    timers = TimerQueue()
    timers.add(10, lambda: cancelled.cancel())  # noqa: PLW0108 (it does not exist yet)
    cancelled = timers.add(10, lambda: ran.append("other"))
    timers.run_due(10)
    assert ran == []
    assert timers.next_due_ms() is None


def test_what_an_action_adds_waits_for_the_next_call() -> None:
    ran: list[str] = []
    timers = TimerQueue()

    def add() -> None:
        timers.add(0, lambda: ran.append("added"))

    timers.add(10, add)
    timers.run_due(10)
    assert ran == []
    timers.run_due(10)
    assert ran == ["added"]


def test_cancelled_timers_do_not_pile_up() -> None:
    timers = TimerQueue()
    for due in range(100_000):
        timers.add(due, lambda: None).cancel()
    assert len(timers) < 2_048


def test_counts_survive_cancelling_twice_and_after_the_run() -> None:
    ran: list[int] = []
    timers = TimerQueue()
    kept = [timers.add(due, partial(ran.append, due)) for due in range(3_000)]
    for timer in kept[::2]:
        timer.cancel()
        timer.cancel()
    timers.run_due(1_000)
    for timer in kept[:500]:
        timer.cancel()
    timers.run_due(5_000)
    assert ran == list(range(1, 3_000, 2))
    assert len(timers) == 0
