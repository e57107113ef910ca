"""What was refused is one registration of a broker at one address, not whoever has its id."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.controller.events.brokers_changed import broker_accepts, broker_refused
from logquake.controller.settings import ControllerSettings
from logquake.controller.term import Term
from logquake.zk.operations import SetData
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint
from tests.golden.controller.world import World


@pytest.fixture
def world() -> World:
    """Broker 1 is the controller."""
    made = World(ControllerSettings(failover_on_refusal=True))
    made.start(1)
    made.start(2)
    made.pass_time(1000)
    return made


def term_of(world: World) -> Term:
    term = world.nodes[1].controller._office.term
    assert term is not None
    return term


def late(world: World, event: Any, broker: Any) -> frozenset[int]:
    """Who is refused after an event that was under way for long."""
    world.nodes[1].controller._office.put("late", lambda term: event(term, broker))
    world.settle()
    return world.nodes[1].controller.refused


def test_a_late_refusal_does_not_meet_the_next_registration(world: World) -> None:
    earlier = term_of(world).context.brokers[2]
    world.crash(2)
    world.start(2)
    assert late(world, broker_refused, earlier) == frozenset()
    world.pass_time(1000)
    world.close_listener(2)
    world.settle()
    assert world.nodes[1].controller.refused == frozenset({2})


def test_a_late_acceptance_does_not_meet_the_next_registration(world: World) -> None:
    earlier = term_of(world).context.brokers[2]
    world.crash(2)
    world.start(2)
    world.pass_time(1000)
    world.close_listener(2)
    world.settle()
    assert late(world, broker_accepts, earlier) == frozenset({2})


def test_a_late_refusal_does_not_meet_the_next_address(world: World) -> None:
    earlier = term_of(world).context.brokers[2]
    _move(world, "elsewhere")
    assert late(world, broker_refused, earlier) == frozenset()


def test_a_late_acceptance_does_not_meet_the_next_address(world: World) -> None:
    earlier = term_of(world).context.brokers[2]
    world.close_listener(2)
    world.settle()
    _move(world, "elsewhere")
    assert late(world, broker_accepts, earlier) == frozenset({2})


def test_nobody_is_watched_over_for_a_term_that_is_over(world: World) -> None:
    term = term_of(world)
    broker = term.context.brokers[2]
    world.nodes[1].controller.close()
    world.settle()
    before = len(world.tethers)
    term.admit(broker)
    world.settle()
    assert len(world.tethers) == before


def _move(world: World, host: str) -> None:
    moved = BrokerRegistration(2, (ListenerEndpoint(host, 9092),), 0)
    world.write(SetData(BrokerRegistration.path(2), moved.encode()))
    world.settle()
