"""A broker says nothing of the cluster before the controller has told it."""

from __future__ import annotations

import pytest

from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.first_metadata import FirstMetadata
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.messages.update_metadata import UpdateMetadataRequest
from tests.doubles.scheduler import ManualScheduler

MAX_WAIT_MS = 1000


class World:
    def __init__(self, scheduler: ManualScheduler) -> None:
        self.scheduler = scheduler
        self.cache = MetadataCache(PLAINTEXT)
        self.waiters = MetadataWaiters(scheduler)
        self.said: list[str] = []

    def ask(self, max_wait_ms: int = MAX_WAIT_MS) -> list[str]:
        image = FirstMetadata(self.cache, self.waiters, max_wait_ms)
        image.wait(lambda: self.said.append("answered"), self.said.append)
        return self.said

    def feed(self) -> None:
        self.cache.update(UpdateMetadataRequest())
        self.waiters.on_metadata_update()


@pytest.fixture
def world(scheduler: ManualScheduler) -> World:
    return World(scheduler)


def test_waits_for_the_first_update(world: World) -> None:
    assert world.ask() == []
    world.feed()
    assert world.said == ["answered"]
    world.scheduler.advance(MAX_WAIT_MS)
    assert world.said == ["answered"]


def test_answers_at_once_after_it(world: World) -> None:
    world.feed()
    assert world.ask() == ["answered"]


def test_ends_the_connection_when_it_does_not_come(world: World) -> None:
    world.ask()
    world.scheduler.advance(MAX_WAIT_MS)
    assert world.said == ["the controller has told this broker nothing of the cluster yet"]
    world.feed()
    assert len(world.said) == 1


def test_without_patience_it_ends_at_once(world: World) -> None:
    assert world.ask(max_wait_ms=0) != ["answered"]
