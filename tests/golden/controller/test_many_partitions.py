"""Decisions about many partitions: told in whole, made in slices between which the loop runs."""

from __future__ import annotations

from collections import Counter

import pytest

from logquake.controller.settings import ControllerSettings
from logquake.wire.messages.topics import CreatableTopic, CreateTopicsRequest
from logquake.zk.multi_groups import MAX_WRITES
from logquake.zk.procedure import SLICE
from tests.golden.controller.world import World

PARTITIONS = 2 * SLICE
AT_ONCE = SLICE + MAX_WRITES + 10  # what was decided, and the znodes of one multi


@pytest.fixture
def world() -> World:
    """Three brokers with all partitions each; the first is the controller."""
    world = World(ControllerSettings(auto_leader_rebalance_enable=False))
    for broker_id in (1, 2, 3):
        world.start(broker_id)
    topic = CreatableTopic(name="orders", num_partitions=PARTITIONS, replication_factor=3)
    world.active().create_topics(CreateTopicsRequest(topics=[topic]), lambda _answer: None)
    _settle(world)
    world.most_lines_at_once = 0
    return world


def test_a_broker_that_dies_is_replaced_slice_by_slice(world: World) -> None:
    world.kill(3)
    happened = _settle(world)
    assert happened["leader-elected"] == pytest.approx(PARTITIONS / 3, abs=1)
    assert happened["leader-elected"] + happened["isr-shrunk"] == PARTITIONS
    assert world.most_lines_at_once <= AT_ONCE


def test_a_new_controller_takes_office_slice_by_slice(world: World) -> None:
    world.kill(1)
    happened = _settle(world)
    assert happened["controller-elected"] == 1
    assert happened["leader-elected"] == pytest.approx(PARTITIONS / 3, abs=1)
    assert world.most_lines_at_once <= AT_ONCE


def test_large_requests_leave_one_at_a_time(world: World) -> None:
    world.kill(3)
    _settle(world)
    world.most_lines_at_once = 0
    world.start(3)
    happened = _settle(world)
    assert happened["LeaderAndIsr"] + happened["UpdateMetadata"] > 6
    assert world.most_lines_at_once < 6  # znodes of the broker and its event among them


def _settle(world: World) -> Counter[str]:
    """What happened, by kind: an event's or a request's name."""
    world.settle()
    world.pass_time(1000)
    kinds: Counter[str] = Counter()
    for line in world.take_log():
        words = line.split()
        kinds[words[3] if words[1] == "->" else words[1]] += 1
    return kinds
