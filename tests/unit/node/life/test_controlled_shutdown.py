"""A broker that leaves asks first, and leaves in any case."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.controller_link import ControllerLink, ControllerRequests
from logquake.node.life.controlled_shutdown import ControlledShutdown, ControlledShutdownSettings
from logquake.seams.network import Disconnected, Endpoint
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    ControlledShutdownResponse,
    RemainingPartition,
)
from tests.doubles.journal import MemoryJournal
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler

CONTROLLER = Endpoint(2, "c", 9092)
MOVED = ControlledShutdownResponse()
LEFT = ControlledShutdownResponse(
    remaining_partitions=[RemainingPartition(topic_name="orders", partition_index=3)]
)


class World:
    """``controller`` is who the broker believes in; ``ended`` tells when it may stop."""

    def __init__(
        self, scheduler: ManualScheduler, network: ScriptedNetwork, journal: MemoryJournal
    ) -> None:
        self.scheduler, self.network, self.journal = scheduler, network, journal
        self.controller: Endpoint | None = CONTROLLER
        self.broker_epoch = 77
        self.ended: list[int] = []

    def begin(self, **settings: Any) -> None:
        link = ControllerLink(self.network, "1", lambda: self.controller)
        ControlledShutdown(
            ControlledShutdownSettings(**settings),
            1,
            lambda: self.broker_epoch,
            ControllerRequests(link.channel, self.scheduler),
            self.scheduler,
            self.journal,
            lambda: self.ended.append(self.scheduler.now_ms()),
        ).run()

    def answer(self, answer: Any) -> None:
        self.network.sent[-1].done(answer)

    @property
    def why(self) -> str:
        [event] = self.journal.events
        assert (event.what, event.subject) == ("controlled-shutdown", "broker-1")
        return str(event.why)


@pytest.fixture
def world(scheduler: ManualScheduler, network: ScriptedNetwork, journal: MemoryJournal) -> World:
    return World(scheduler, network, journal)


def test_it_stops_when_every_leadership_was_moved(world: World) -> None:
    world.begin()
    [sent] = world.network.sent
    assert (sent.endpoint, sent.version, sent.request.broker_epoch) == (CONTROLLER, 3, 77)
    assert world.ended == []
    world.answer(MOVED)
    assert (world.ended, world.why) == ([0], "every leadership was moved")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (LEFT, "NONE, 1 partitions still led"),
        (
            ControlledShutdownResponse(error_code=ErrorCode.NOT_CONTROLLER),
            "NOT_CONTROLLER, 0 partitions still led",
        ),
        (
            ControlledShutdownResponse(error_code=999),
            "UNKNOWN_SERVER_ERROR (error code 999), 0 partitions still led",
        ),
        (Disconnected("reset"), "reset"),
    ],
)
def test_it_asks_again_after_the_back_off_and_gives_up_in_the_end(
    world: World, answer: Any, why: str
) -> None:
    world.begin(max_retries=2, retry_backoff_ms=5_000)
    for attempt in (1, 2, 3):
        assert len(world.network.sent) == attempt
        world.answer(answer)
        world.scheduler.advance(5_000)
    assert len(world.network.sent) == 3
    assert world.ended == [10_000]
    assert world.why == f"{why}; giving up"


def test_a_session_that_ended_meanwhile_shows_in_the_next_attempt(world: World) -> None:
    world.begin(retry_backoff_ms=5_000)
    world.broker_epoch = 99
    world.answer(ControlledShutdownResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
    world.scheduler.advance(5_000)
    assert [sent.request.broker_epoch for sent in world.network.sent] == [77, 99]


def test_a_controller_that_does_not_answer_is_not_waited_for_for_ever(world: World) -> None:
    world.begin(max_retries=0, attempt_timeout_ms=30_000)
    world.scheduler.advance(30_000)
    assert world.ended == [30_000]
    assert world.why == "the controller did not answer in time; giving up"


def test_an_answer_to_an_attempt_that_was_given_up_on_counts_for_nothing(world: World) -> None:
    world.begin(max_retries=1, retry_backoff_ms=100, attempt_timeout_ms=1_000)
    world.scheduler.advance(1_100)
    late, current = world.network.sent
    late.done(Disconnected("late"))
    assert world.ended == []
    current.done(MOVED)
    assert world.ended == [1_100]


def test_a_controller_is_asked_as_soon_as_one_is_known(world: World) -> None:
    world.controller = None
    world.begin(retry_backoff_ms=5_000)
    world.scheduler.advance(250)
    world.controller = CONTROLLER
    world.scheduler.advance(50)
    assert len(world.network.sent) == 1
    world.answer(MOVED)
    assert world.ended == [300]


def test_looking_for_a_controller_does_not_use_up_attempts(world: World) -> None:
    world.controller = None
    world.begin(max_retries=1, retry_backoff_ms=5_000)
    world.scheduler.advance(4_000)
    world.controller = CONTROLLER
    world.scheduler.advance(100)
    for _ in range(2):
        world.answer(LEFT)
        world.scheduler.advance(5_000)
    assert len(world.network.sent) == 2


def test_without_a_controller_it_ends_after_the_back_offs(world: World) -> None:
    world.controller = None
    world.begin(max_retries=3, retry_backoff_ms=5_000)
    world.scheduler.advance(60_000)
    assert world.ended == [15_000]
    assert world.why == "no controller is known; giving up"


def test_where_it_is_off_the_broker_just_stops(world: World) -> None:
    world.begin(enabled=False)
    assert world.ended == [0]
    assert world.network.sent == []
    assert world.journal.events == []
