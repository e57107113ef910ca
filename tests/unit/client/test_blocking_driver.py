"""Whoever waits drives the core: until when."""

from __future__ import annotations

from random import Random

from logquake.client.driving.blocking import BlockingDriver
from logquake.client.driving.driven import Driven
from logquake.client.network.links import Links
from logquake.client.network.settings import NetworkSettings
from tests.unit.client.cluster_in_memory import FakeClock

LOOK_UP_MS = 900


class SlowNames:
    """Sockets of a host whose names take long to look up; nothing else happens."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    def perform(self, _links: Driven) -> bool:
        self._clock.sleep_ms(LOOK_UP_MS)
        return False

    def wait(self, _links: Driven, timeout_ms: int | None) -> bool:
        self._clock.sleep_ms(timeout_ms or 0)
        return True

    def close(self) -> None: ...


class Dripping:
    """Sockets of a broker that says its answer bit by bit."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    def perform(self, _links: Driven) -> bool:
        return False

    def wait(self, _links: Driven, timeout_ms: int | None) -> bool:
        self._clock.sleep_ms(min(10, timeout_ms or 0))
        return False

    def close(self) -> None: ...


class Answered:
    """A core that has its answer, and is sockets that had it while something else took long."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.is_answered = False

    def perform(self, _links: Driven) -> bool:
        self._clock.sleep_ms(LOOK_UP_MS)
        return True

    def wait(self, _links: Driven, _timeout_ms: int | None) -> bool:
        self.is_answered = True
        return True

    def close(self) -> None: ...


class Idle:
    def __init__(self) -> None:
        self.polled_ms: list[int] = []

    def poll(self, now_ms: int) -> None:
        self.polled_ms.append(now_ms)

    def next_due_ms(self, _polled_ms: int) -> None: ...


def test_what_a_look_up_took_is_not_waited_for_once_more() -> None:
    clock, core = FakeClock(), Idle()
    driver = BlockingDriver(Links(NetworkSettings(), Random(1)), SlowNames(clock), clock)
    deadline_ms = clock.now_ms() + 1_000
    assert not driver.run(core, lambda: False, deadline_ms)
    assert core.polled_ms[-1] == deadline_ms


def test_parts_of_an_answer_neither_have_the_core_polled_nor_put_the_deadline_off() -> None:
    clock, core = FakeClock(), Idle()
    driver = BlockingDriver(Links(NetworkSettings(), Random(1)), Dripping(clock), clock)
    began_ms = clock.now_ms()
    assert not driver.run(core, lambda: False, began_ms + 1_000)
    assert core.polled_ms == [began_ms, began_ms + 1_000]


def test_what_came_while_a_name_was_looked_up_is_heard_before_time_is_up() -> None:
    clock = FakeClock()
    sockets = Answered(clock)
    driver = BlockingDriver(Links(NetworkSettings(), Random(1)), sockets, clock)
    assert driver.run(Idle(), lambda: sockets.is_answered, clock.now_ms() + LOOK_UP_MS)
