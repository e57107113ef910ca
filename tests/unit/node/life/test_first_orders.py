"""A broker is ready when the controller has told its replicas what to do."""

from __future__ import annotations

import pytest

from logquake.node.life.first_orders import FirstOrders
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.messages.update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.doubles.scheduler import ManualScheduler

BROKER_ID = 1


class World:
    def __init__(self, scheduler: ManualScheduler) -> None:
        self.cache = MetadataCache(PLAINTEXT)
        self.waiters = MetadataWaiters(scheduler)
        self.has_leader_and_isr = False
        self.ready = 0
        orders = FirstOrders(BROKER_ID, self.cache, self.waiters, lambda: self.has_leader_and_isr)
        orders.wait(self._on_ready)

    def update_metadata(self, *replicas: list[int]) -> None:
        """An image of one topic, each of its partitions with these replicas."""
        states = [
            UpdateMetadataPartitionState(partition_index=index, leader=each[0], replicas=each)
            for index, each in enumerate(replicas)
        ]
        topic = UpdateMetadataTopicState(topic_name="orders", partition_states=states)
        self.cache.update(UpdateMetadataRequest(topic_states=[topic]))
        self.waiters.on_metadata_update()

    def _on_ready(self) -> None:
        self.ready += 1


@pytest.fixture
def world(scheduler: ManualScheduler) -> World:
    return World(scheduler)


def test_without_an_image_a_broker_waits_for_as_long_as_it_takes(
    world: World, scheduler: ManualScheduler
) -> None:
    scheduler.advance(3_600_000)
    assert world.ready == 0


def test_a_broker_without_replicas_needs_the_image_alone(world: World) -> None:
    world.update_metadata([2, 3], [3, 2])
    assert world.ready == 1


def test_a_broker_with_replicas_waits_for_their_roles(world: World) -> None:
    world.update_metadata([2, 3], [2, BROKER_ID])
    assert world.ready == 0
    world.has_leader_and_isr = True
    world.update_metadata([2, 3], [2, BROKER_ID])
    assert world.ready == 1
    world.update_metadata([2, 3])
    assert world.ready == 1
