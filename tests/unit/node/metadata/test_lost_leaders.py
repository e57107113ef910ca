"""Metadata waits, not for long, for the successor of a leader that was just lost."""

from __future__ import annotations

import pytest

from logquake.controller.channels.vigil import VigilTiming
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.lost_leaders import LostLeaders
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.seams.network import Disconnected
from logquake.wire.listeners import PLAINTEXT
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler

MAX_WAIT_MS = 500
NOTICE_MS = 5
LOST = Disconnected("closed by the broker")
TIMING = VigilTiming(backoff_ms=5, backoff_max_ms=1_000, attempt_timeout_ms=10_000)


class World:
    """Broker 1 keeps an eye on broker 2, which leads "orders"; "others" is its own."""

    def __init__(
        self, scheduler: ManualScheduler, network: ScriptedNetwork, timing: VigilTiming | None
    ) -> None:
        self.scheduler, self.network = scheduler, network
        self.cache = MetadataCache(PLAINTEXT)
        self.waiters = MetadataWaiters(scheduler)
        self.lost_leaders = LostLeaders(
            1, self.cache, self.waiters, network, scheduler, timing, MAX_WAIT_MS, NOTICE_MS
        )
        self.answers: list[str] = []
        self.tell([1, 2], orders=2, others=1)
        scheduler.advance(1_000)

    def tell(self, brokers: list[int], isr: tuple[int, ...] = (1, 2), **leaders: int) -> None:
        """What the controller says."""
        self.cache.update(
            UpdateMetadataRequest(
                controller_id=1,
                live_brokers=[_broker(each) for each in brokers],
                topic_states=[
                    UpdateMetadataTopicState(
                        topic_name=topic,
                        partition_states=[_state(leader, isr)],
                    )
                    for topic, leader in leaders.items()
                ],
            )
        )
        self.lost_leaders.on_metadata_update()
        self.waiters.on_metadata_update()

    def ask(self, *topics: str) -> None:
        self.lost_leaders.wait(topics, lambda: self.answers.append(",".join(topics)))


def _broker(broker_id: int) -> UpdateMetadataBroker:
    endpoint = UpdateMetadataEndpoint(
        port=9092, host=f"b{broker_id}", listener=PLAINTEXT, security_protocol=0
    )
    return UpdateMetadataBroker(id=broker_id, endpoints=[endpoint])


def _state(leader: int, isr: tuple[int, ...]) -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        partition_index=0,
        controller_epoch=1,
        leader=leader,
        leader_epoch=0,
        isr=list(isr),
        zk_version=0,
        replicas=[1, 2],
    )


@pytest.fixture
def world(scheduler: ManualScheduler, network: ScriptedNetwork) -> World:
    made = World(scheduler, network, TIMING)
    (tether,) = network.tethers
    assert tether.endpoint.broker_id == 2
    tether.held()
    scheduler.advance(1_000)
    return made


def test_who_asks_after_the_loss_hears_of_the_next_leader(world: World) -> None:
    world.network.tethers[-1].ended(LOST)
    world.ask("orders")
    assert world.answers == []
    world.tell([1], orders=1)
    assert world.answers == ["orders"]


def test_that_there_is_no_leader_is_not_the_last_word(world: World) -> None:
    """A new controller takes the dead one out of the ISR before it elects."""
    world.network.tethers[-1].ended(LOST)
    world.ask("orders")
    world.tell([1, 2], orders=-1)
    assert world.answers == []
    world.tell([1, 2], orders=1)
    assert world.answers == ["orders"]


def test_where_nobody_can_be_elected_nobody_waits(world: World) -> None:
    """Of several topics in one request the others have leaders to be told of."""
    world.network.tethers[-1].ended(LOST)
    world.ask("orders", "others")
    world.tell([1, 2], isr=(2,), orders=-1)
    assert world.answers == ["orders,others"]


def test_a_client_may_notice_the_loss_first(world: World) -> None:
    world.ask("orders")
    world.scheduler.advance(NOTICE_MS - 1)
    world.network.tethers[-1].ended(LOST)
    world.scheduler.advance(1)
    assert world.answers == []
    world.tell([1], orders=1)
    assert world.answers == ["orders"]


def test_a_loss_that_is_known_need_not_be_noticed(world: World) -> None:
    world.network.tethers[-1].ended(LOST)
    world.tell([1, 2, 3], orders=3, others=1)
    world.ask("orders")
    assert world.answers == ["orders"]


def test_without_a_loss_the_answer_follows_soon(world: World) -> None:
    world.ask("orders")
    world.scheduler.advance(NOTICE_MS - 1)
    assert world.answers == []
    world.scheduler.advance(1)
    assert world.answers == ["orders"]


def test_topics_of_other_leaders_do_not_wait(world: World) -> None:
    world.network.tethers[-1].ended(LOST)
    world.ask("others", "unknown")
    assert world.answers == ["others,unknown"]


def test_nobody_waits_longer_than_the_bound(world: World) -> None:
    world.network.tethers[-1].ended(LOST)
    world.ask("orders")
    world.scheduler.advance(MAX_WAIT_MS - 1)
    assert world.answers == []
    world.scheduler.advance(1)
    assert world.answers == ["orders"]
    world.ask("orders")
    world.scheduler.advance(NOTICE_MS)
    assert world.answers == ["orders"] * 2


def test_a_connection_that_is_made_again_and_lasts_ends_the_wait(world: World) -> None:
    """An idle one was closed by its broker."""
    world.network.tethers[-1].ended(LOST)
    world.ask("orders")
    world.scheduler.advance(0)
    world.network.tethers[-1].held()
    world.scheduler.advance(29)
    assert world.answers == []
    world.scheduler.advance(1)
    assert world.answers == ["orders"]


def test_a_connection_that_is_made_again_only_to_be_reset_does_not(world: World) -> None:
    world.network.tethers[-1].ended(LOST)
    world.ask("orders")
    world.scheduler.advance(0)
    world.network.tethers[-1].held()
    world.network.tethers[-1].ended(LOST)
    world.scheduler.advance(100)
    assert world.answers == []


def test_a_broker_that_left_is_watched_no_more(world: World) -> None:
    world.tell([1], orders=1)
    assert world.network.tethers[-1].closed
    world.tell([1, 2], orders=1)
    assert len(world.network.tethers) == 2
    world.lost_leaders.close()
    assert world.network.tethers[-1].closed


def test_where_refusals_mean_nothing_nobody_is_watched(
    scheduler: ManualScheduler, network: ScriptedNetwork
) -> None:
    world = World(scheduler, network, None)
    assert network.tethers == []
    world.ask("orders")
    assert world.answers == ["orders"]
