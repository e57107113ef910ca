"""A broker is gone when its connection breaks and the next one is refused; not for less."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.controller.channels.vigil import Sign, Vigil, VigilTiming
from logquake.seams.network import Disconnected, Endpoint
from tests.doubles.network import ScriptedNetwork, ScriptedTether
from tests.doubles.scheduler import ManualScheduler

REFUSED = Disconnected("connection refused", refused=True)
LOST = Disconnected("closed by the broker")
TIMING = VigilTiming(backoff_ms=50, backoff_max_ms=400, attempt_timeout_ms=2_000)


class Watch:
    """A vigil, and what it said."""

    def __init__(self, scheduler: ManualScheduler, sign: Sign) -> None:
        self.network = ScriptedNetwork()
        self.scheduler = scheduler
        self.said: list[str] = []
        self.vigil = Vigil(
            Endpoint(2, "host2", 9092),
            self.network,
            scheduler,
            TIMING,
            sign=sign,
            on_refused=lambda: self.said.append("refused"),
            on_accepted=lambda: self.said.append("accepted"),
        )

    @property
    def last(self) -> ScriptedTether:
        return self.network.tethers[-1]

    def attempts_in(self, duration_ms: int) -> int:
        before = len(self.network.tethers)
        self.scheduler.advance(duration_ms)
        return len(self.network.tethers) - before


@pytest.fixture
def watch(scheduler: ManualScheduler) -> Callable[[Sign], Watch]:
    return lambda sign: Watch(scheduler, sign)


def test_a_connection_that_breaks_is_tried_again_at_once_and_its_refusal_counts(
    watch: Callable[[Sign], Watch],
) -> None:
    watched = watch(Sign.NONE)
    watched.last.held()
    watched.scheduler.advance(1_000)
    watched.last.ended(LOST)
    assert watched.attempts_in(0) == 1
    assert watched.said == []
    watched.last.ended(REFUSED)
    assert watched.said == ["refused"]


def test_a_connection_that_breaks_and_is_made_again_says_nothing(
    watch: Callable[[Sign], Watch],
) -> None:
    watched = watch(Sign.NONE)
    watched.last.held()
    watched.scheduler.advance(1_000)
    watched.last.ended(LOST)
    watched.scheduler.advance(0)
    watched.last.held()
    assert watched.said == []


def test_a_refusal_of_who_was_never_seen_to_listen_says_nothing(
    watch: Callable[[Sign], Watch],
) -> None:
    watched = watch(Sign.NONE)
    for _ in range(5):
        watched.last.ended(REFUSED)
        watched.scheduler.advance(400)
    assert watched.said == []
    watched.vigil.note_listening()
    watched.last.ended(REFUSED)
    assert watched.said == ["refused"]


@pytest.mark.parametrize("why", [LOST, Disconnected("no route to host")])
def test_what_is_no_refusal_says_nothing(watch: Callable[[Sign], Watch], why: Disconnected) -> None:
    watched = watch(Sign.LISTENED)
    for _ in range(5):
        watched.last.ended(why)
        watched.scheduler.advance(400)
    assert watched.said == []


def test_refusals_are_told_once_and_so_is_the_return(watch: Callable[[Sign], Watch]) -> None:
    watched = watch(Sign.LISTENED)
    for _ in range(3):
        watched.last.ended(REFUSED)
        watched.scheduler.advance(400)
    watched.last.held()
    assert watched.said == ["refused", "accepted"]
    watched.scheduler.advance(1_000)
    watched.last.ended(LOST)
    watched.scheduler.advance(0)
    watched.last.ended(REFUSED)
    assert watched.said == ["refused", "accepted", "refused"]


def test_who_is_known_to_be_refused_is_told_only_of_its_return(
    watch: Callable[[Sign], Watch],
) -> None:
    watched = watch(Sign.REFUSED)
    watched.last.ended(REFUSED)
    watched.scheduler.advance(400)
    watched.last.held()
    assert watched.said == ["accepted"]


def test_pauses_grow_to_their_bound(watch: Callable[[Sign], Watch]) -> None:
    watched = watch(Sign.LISTENED)
    for pause_ms in (50, 100, 200, 400, 400):
        watched.last.ended(REFUSED)
        assert watched.attempts_in(pause_ms - 1) == 0
        assert watched.attempts_in(1) == 1


def test_connections_that_are_made_only_to_end_do_not_spin(
    watch: Callable[[Sign], Watch],
) -> None:
    """A broker at its bound of connections accepts and closes."""
    watched = watch(Sign.NONE)
    for pause_ms in (50, 100, 200):
        watched.last.held()
        watched.last.ended(LOST)
        assert watched.attempts_in(pause_ms - 1) == 0
        assert watched.attempts_in(1) == 1


def test_an_attempt_that_is_not_answered_is_given_up(watch: Callable[[Sign], Watch]) -> None:
    watched = watch(Sign.LISTENED)
    hanging = watched.last
    assert watched.attempts_in(TIMING.attempt_timeout_ms) == 0
    assert hanging.closed
    assert watched.attempts_in(TIMING.backoff_ms) == 1
    assert watched.said == []


def test_a_held_connection_is_not_given_up(watch: Callable[[Sign], Watch]) -> None:
    watched = watch(Sign.NONE)
    watched.last.held()
    assert watched.attempts_in(10 * TIMING.attempt_timeout_ms) == 0
    assert not watched.last.closed


def test_a_vigil_that_is_over_tries_no_more(watch: Callable[[Sign], Watch]) -> None:
    watched = watch(Sign.LISTENED)
    watched.last.ended(REFUSED)
    watched.vigil.close()
    assert watched.attempts_in(10_000) == 0
    held = watch(Sign.NONE)
    held.last.held()
    held.vigil.close()
    assert held.last.closed
