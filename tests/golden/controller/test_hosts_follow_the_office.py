"""The broker that hosts a candidate hears at once when another one takes the office."""

from __future__ import annotations

from logquake.controller.settings import ControllerSettings
from logquake.zk.operations import Delete
from logquake.zk.znodes.control import CONTROLLER_PATH
from tests.golden.controller.world import World


def test_every_change_of_controller_is_told_once() -> None:
    world = World(ControllerSettings())
    for broker_id in (1, 2):
        world.start(broker_id)
    world.kill(1)
    world.settle()
    assert world.nodes[2].controllers_seen == [1, -1, 2]


def test_the_end_of_a_session_is_the_end_of_what_was_known() -> None:
    world = World(ControllerSettings())
    world.start(1)
    world.write(Delete(CONTROLLER_PATH))
    world.settle()
    assert world.nodes[1].controllers_seen == [1, -1, 1]
    world.nodes[1].controller.on_session_expired()
    assert world.nodes[1].controllers_seen == [1, -1, 1, -1]
