"""One event at a time, and what happens to events that fail or are dropped."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest

from logquake.controller.office.event_queue import ControllerEvent, EventQueue, Failure
from logquake.controller.zookeeper.guarded_zk import ControllerMoved
from logquake.wire.errors import ErrorCode
from logquake.zk.operations import Exists, Failed, ZkError
from logquake.zk.procedure import perform
from tests.doubles.session import ManualSession


class World:
    def __init__(self) -> None:
        self.session = ManualSession()
        self.log: list[str] = []
        self.later: deque[Callable[[], None]] = deque()
        self.queue = EventQueue(self.session, self._recover, self.later.append)

    async def _recover(self, event: ControllerEvent, failure: Failure) -> None:
        self.log.append(f"recover {event.name} {type(failure).__name__}")
        await perform(Exists("/recovery"))

    def put(
        self, name: str, *, asks: bool = True, moved: bool = False, gives_way: bool = False
    ) -> None:
        async def procedure() -> None:
            self.log.append(f"begin {name}")
            if gives_way:
                await self.queue.give_way()
            if asks:
                await perform(Exists("/any"))
            if moved:
                raise ControllerMoved
            self.log.append(f"end {name}")

        def abandon(code: ErrorCode) -> None:
            self.log.append(f"abandon {name} {code.name}")

        self.queue.put(ControllerEvent(name, procedure, abandon))


@pytest.fixture
def world() -> World:
    return World()


def test_the_next_event_begins_when_the_one_before_has_ended(world: World) -> None:
    world.put("a")
    world.put("b")
    assert world.log == ["begin a"]
    world.session.answer()
    assert world.log == ["begin a", "end a", "begin b"]


def test_many_events_that_never_wait_need_no_stack(world: World) -> None:
    world.put("first")
    for _ in range(3000):
        world.put("quick", asks=False)
    world.session.answer()
    assert world.log.count("end quick") == 3000


def test_a_failed_event_is_abandoned_and_recovered_before_the_next(world: World) -> None:
    world.put("a", moved=True)
    world.put("b")
    world.session.answer()
    assert world.log == ["begin a", "abandon a NOT_CONTROLLER", "recover a ControllerMoved"]
    world.session.answer()
    assert world.log[-1] == "begin b"


def test_the_queue_goes_on_when_even_the_recovery_fails(world: World) -> None:
    world.put("a")
    world.put("b")
    expired = Failed(ZkError.SESSION_EXPIRED, "/any")
    world.session.answer(expired)
    assert world.log[1:] == ["abandon a NOT_CONTROLLER", "recover a ZkFailure"]
    world.session.answer(expired)
    assert world.log[-1] == "begin b"


@pytest.mark.parametrize("error", [ZkError.NO_NODE, ZkError.OTHER])
def test_a_refusal_that_another_controller_would_meet_too_is_an_error(
    world: World, error: ZkError
) -> None:
    world.put("a")
    world.session.answer(Failed(error, "/any"))
    assert world.log[1] == "abandon a UNKNOWN_SERVER_ERROR"


def test_clearing_drops_what_waits_but_not_what_runs(world: World) -> None:
    world.put("a")
    world.put("b")
    world.queue.clear(ErrorCode.NOT_CONTROLLER)
    world.session.answer()
    assert world.log == ["begin a", "abandon b NOT_CONTROLLER", "end a"]


def test_urgent_events_go_first_and_in_their_order(world: World) -> None:
    world.put("a")
    world.put("b", asks=False)
    world.put("brokers-changed", asks=False)
    world.put("alter-partition", asks=False)
    world.session.answer()
    begun = [line for line in world.log if line.startswith("begin")]
    assert begun == ["begin a", "begin brokers-changed", "begin alter-partition", "begin b"]


def test_long_work_gives_way_to_the_loop_and_to_urgent_events(world: World) -> None:
    world.put("create-topics", gives_way=True)
    world.put("b", asks=False)
    world.put("brokers-changed")
    assert world.log == ["begin create-topics"]
    world.later.popleft()()
    assert world.log == ["begin create-topics", "begin brokers-changed"]
    world.session.answer()
    assert world.log[-1] == "end brokers-changed"
    world.session.answer()
    assert world.log[-4:] == ["end brokers-changed", "end create-topics", "begin b", "end b"]


def test_an_election_is_not_interrupted_by_another(world: World) -> None:
    world.put("brokers-changed", gives_way=True)
    world.put("alter-partition", asks=False)
    world.later.popleft()()
    assert world.log == ["begin brokers-changed"]
    world.session.answer()
    assert world.log[1:] == ["end brokers-changed", "begin alter-partition", "end alter-partition"]


def test_an_urgent_event_that_fails_does_not_end_the_one_that_gave_way(world: World) -> None:
    world.put("create-topics", gives_way=True)
    world.put("brokers-changed", asks=False, moved=True)
    world.later.popleft()()
    assert world.log[1:] == [
        "begin brokers-changed",
        "abandon brokers-changed NOT_CONTROLLER",
        "recover brokers-changed ControllerMoved",
    ]
    world.session.answer()
    world.session.answer()
    assert world.log[-1] == "end create-topics"
