"""What is told below /config/changes reaches the handler of its kind, whatever ends between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

import pytest

from logquake.node.configs.changes import ConfigChanges
from logquake.zk.model_session import ModelServer, ModelSession
from logquake.zk.operations import Create, Delete, Operation, SetData, WatchEvent
from logquake.zk.znodes.configs import CHANGES_PATH, ConfigChange, EntityConfig
from logquake.zk.znodes.parents import create_parents
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler

HOUR_MS = 60 * 60 * 1000
TOPIC = "topics/orders"


class Follower:
    """A broker's session, and what its handler of topics was told."""

    def __init__(self, server: ModelServer, scheduler: ManualScheduler) -> None:
        self.steps: deque[Callable[[], None]] = deque()
        self.told: list[tuple[str, Mapping[str, str]]] = []
        self.journal = MemoryJournal()
        self._session_id = 0
        self.session = ModelSession(server, self, self.steps.append, lambda action: action())
        self.changes = ConfigChanges(
            self.session,
            scheduler,
            self.journal,
            {"topics": lambda name, config: self.told.append((name, config))},
        )

    def on_connected(self, session_id: int) -> None:
        if session_id != self._session_id:
            self._session_id = session_id
            self.changes.on_session_established()

    def on_disconnected(self) -> None:
        """The session lives."""

    def on_expired(self) -> None:
        """Another follows."""

    def on_watch(self, event: WatchEvent) -> None:
        self.changes.on_watch(event)

    def settle(self) -> None:
        while self.steps:
            self.steps.popleft()()


@pytest.fixture
def server() -> ModelServer:
    server = ModelServer()
    write(server, *create_parents(), Create(EntityConfig.path(TOPIC), b""))
    return server


@pytest.fixture
def follower(server: ModelServer, scheduler: ManualScheduler) -> Follower:
    follower = Follower(server, scheduler)
    follower.settle()
    return follower


def write(server: ModelServer, *operations: Operation[object]) -> None:
    session_id = server.model.open_session()
    for operation in operations:
        server.deliver(server.model.apply(session_id, operation)[1])


def change(server: ModelServer, value: str, entity: str = TOPIC) -> None:
    config = {"retention.ms": value}
    write(
        server,
        SetData(EntityConfig.path(entity), EntityConfig(config).encode()),
        Create(ConfigChange.path(), ConfigChange(entity).encode(), sequential=True),
    )


def values(follower: Follower) -> list[str | None]:
    return [config.get("retention.ms") for _, config in follower.told]


def test_each_change_is_told_once_with_what_holds_now(
    server: ModelServer, follower: Follower
) -> None:
    change(server, "1")
    follower.settle()
    change(server, "2")
    change(server, "3")
    follower.settle()
    assert values(follower) == ["1", "3"]


@pytest.mark.parametrize("steps", range(8))
def test_a_change_survives_the_end_of_the_session_at_any_step(
    server: ModelServer, follower: Follower, steps: int
) -> None:
    change(server, "1")
    for _ in range(min(steps, len(follower.steps))):
        follower.steps.popleft()()
    server.expire(follower.session.session_id)
    follower.settle()
    assert values(follower) == ["1"]
    change(server, "2")
    follower.settle()
    assert values(follower) == ["1", "2"]


def test_after_a_gap_longer_than_notifications_live_all_is_read(
    server: ModelServer, follower: Follower, scheduler: ManualScheduler
) -> None:
    change(server, "1")
    (told,) = server.model.children(CHANGES_PATH)
    write(server, Delete(f"{CHANGES_PATH}/{told}"))
    follower.steps.clear()
    scheduler.advance(HOUR_MS)
    server.expire(follower.session.session_id)
    follower.settle()
    assert values(follower) == ["1"]


def test_an_entity_that_makes_no_sense_counts_as_empty_and_shows_nothing_of_it(
    server: ModelServer, follower: Follower
) -> None:
    write(
        server,
        SetData(EntityConfig.path(TOPIC), b'{"config":"hush'),
        Create(ConfigChange.path(), ConfigChange(TOPIC).encode(), sequential=True),
    )
    follower.settle()
    assert follower.told == [("orders", {})]
    (ignored,) = follower.journal.of("config-ignored")
    assert ignored.subject == EntityConfig.path(TOPIC)
    assert "hush" not in str(ignored)


def test_kinds_that_nobody_handles_are_passed_over(server: ModelServer, follower: Follower) -> None:
    for name in ("users/alice", "ips/127.0.0.9", "odd"):
        write(server, Create(ConfigChange.path(), ConfigChange(name).encode(), sequential=True))
    follower.settle()
    assert (follower.told, follower.journal.events) == ([], [])
