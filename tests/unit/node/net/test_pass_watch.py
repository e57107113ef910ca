"""Passes that keep others waiting are told, with what took so long."""

from __future__ import annotations

import pytest

from logquake.node.net.loop import EventLoop
from logquake.node.net.pass_watch import BusyPass, PassWatch
from logquake.node.process.busy_reports import BusyReports
from logquake.wire.api import ApiKey
from tests.doubles.clock import ManualClock
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def told() -> list[BusyPass]:
    return []


@pytest.fixture
def watch(clock: ManualClock, told: list[BusyPass]) -> PassWatch:
    return PassWatch(50, told.append, monotonic_ns=clock.ns, cpu_ns=lambda: clock.ns() // 2)


def test_a_short_pass_is_not_told(
    watch: PassWatch, clock: ManualClock, told: list[BusyPass]
) -> None:
    watch.begin()
    clock.advance_ms(50)
    watch.step_done(len)
    watch.end()
    assert told == []


def test_the_longest_step_is_named_with_its_request(
    watch: PassWatch, clock: ManualClock, told: list[BusyPass]
) -> None:
    watch.begin()
    clock.advance_ms(10)
    watch.step_done(len)
    watch.api_key = ApiKey.LEADER_AND_ISR
    clock.advance_ms(60)
    watch.step_done(clock.advance_ms)
    clock.advance_ms(20)
    watch.step_done(len)
    watch.end()
    assert told == [BusyPass(90, 45, "ManualClock.advance_ms", 60, ApiKey.LEADER_AND_ISR)]


def test_the_wait_is_not_part_of_a_pass(
    watch: PassWatch, clock: ManualClock, told: list[BusyPass]
) -> None:
    for _ in range(2):
        watch.begin()
        watch.step_done(len)
        watch.end()
        clock.advance_ms(1_000)
    assert told == []


def test_a_limit_of_0_tells_nothing(clock: ManualClock, told: list[BusyPass]) -> None:
    watch = PassWatch(0, told.append, monotonic_ns=clock.ns, cpu_ns=clock.ns)
    watch.begin()
    clock.advance_ms(1_000)
    watch.step_done(len)
    watch.end()
    assert told == []


def test_a_loop_tells_what_kept_it(clock: ManualClock, told: list[BusyPass]) -> None:
    loop = EventLoop(monotonic_ns=clock.ns)
    loop.passes = PassWatch(50, told.append, monotonic_ns=clock.ns, cpu_ns=clock.ns)

    def slow() -> None:
        clock.advance_ms(70)

    for start in (loop.call_soon, loop.call_before_wait, loop.post, loop.at_end_of_pass):
        start(slow)
        loop.run_pass(max_wait_ms=0)
    loop.call_later(0, slow)
    loop.run_pass(max_wait_ms=0)
    loop.close()
    assert [busy.step.rpartition(".")[2] for busy in told] == ["slow"] * 5


def test_events_are_one_an_interval(scheduler: ManualScheduler, journal: MemoryJournal) -> None:
    reports = BusyReports("broker-1", scheduler, journal)
    for _ in range(3):
        reports.report(BusyPass(70, 60, "BackgroundTasks (lag)", 65, -1))
    scheduler.advance(10_000)
    reports.report(BusyPass(80, 2, "Connection._on_ready", 75, ApiKey.FETCH))
    assert [event.why for event in journal.events] == [
        "nobody else was served for 70 ms, 60 of them at work: 65 in BackgroundTasks (lag)",
        "nobody else was served for 80 ms, 2 of them at work: 75 in Connection._on_ready (FETCH)"
        "; 2 more since the last report",
    ]
