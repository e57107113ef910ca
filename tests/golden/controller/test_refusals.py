"""What was refused is one registration of a broker at one address, not whoever has its id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.controller.events.brokers_changed import broker_accepts, broker_refused
from logquake.controller.settings import ControllerSettings
from logquake.zk.operations import SetData
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint


@pytest.fixture
def world(make_world: Callable[..., Any]) -> Any:
    """Broker 1 is the controller."""
    made = make_world(ControllerSettings(failover_on_refusal=True))
    made.start(1)
    made.start(2)
    made.pass_time(1000)
    return made


def late(world: Any, event: Any, broker: Any) -> frozenset[int]:
    """Who is refused after an event that was under way for long."""
    world.nodes[1].controller._office.put("late", lambda term: event(term, broker))
    world.settle()
    refused: frozenset[int] = world.nodes[1].controller.refused
    return refused


def test_a_late_refusal_does_not_meet_the_next_registration(world: Any) -> None:
    earlier = world.nodes[1].controller._office.term.context.brokers[2]
    world.crash(2)
    world.start(2)
    assert late(world, broker_refused, earlier) == frozenset()
    world.pass_time(1000)
    world.close_listener(2)
    world.settle()
    assert world.nodes[1].controller.refused == frozenset({2})


def test_a_late_acceptance_does_not_meet_the_next_registration(world: Any) -> None:
    earlier = world.nodes[1].controller._office.term.context.brokers[2]
    world.crash(2)
    world.start(2)
    world.pass_time(1000)
    world.close_listener(2)
    world.settle()
    assert late(world, broker_accepts, earlier) == frozenset({2})


def test_a_late_refusal_does_not_meet_the_next_address(world: Any) -> None:
    earlier = world.nodes[1].controller._office.term.context.brokers[2]
    _move(world, "elsewhere")
    assert late(world, broker_refused, earlier) == frozenset()


def test_a_late_acceptance_does_not_meet_the_next_address(world: Any) -> None:
    earlier = world.nodes[1].controller._office.term.context.brokers[2]
    world.close_listener(2)
    world.settle()
    _move(world, "elsewhere")
    assert late(world, broker_accepts, earlier) == frozenset({2})


def test_nobody_is_watched_over_for_a_term_that_is_over(world: Any) -> None:
    term = world.nodes[1].controller._office.term
    broker = term.context.brokers[2]
    world.nodes[1].controller.close()
    world.settle()
    before = len(world.tethers)
    term.admit(broker)
    world.settle()
    assert len(world.tethers) == before


def _move(world: Any, host: str) -> None:
    moved = BrokerRegistration(2, (ListenerEndpoint(host, 9092),), 0)
    world.write(SetData(BrokerRegistration.path(2), moved.encode()))
    world.settle()
