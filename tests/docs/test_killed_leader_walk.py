"""The walk of a killed leader is as docs/architecture/killed_leader.md draws it.

A leader of the simulation dies, and a client asks who leads now and sends to it. What a controller
enters to decide is counted where it is alone, beside doubles of ZooKeeper and the brokers.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.controller.controller import Controller
from logquake.seams.network import Disconnected
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import Message
from logquake.wire.sentinels import ACKS_ALL
from tests.docs.walks import Call, calls_of, drawn, missed
from tests.golden.controller.test_scripts import ControllerPlayer
from tests.golden.controller.world import World
from tests.sim.clients import Client
from tests.sim.cluster import PARTITION, REPLICAS, Cluster

DRAWN_IN = "docs/architecture/killed_leader.md"
LEADER, CONTROLLER, FOLLOWER = REPLICAS
STEADY_US = 3_000_000
SOON_US = 200
METADATA_VERSION = 12
PRODUCE_VERSION = 9
# What the simulation and the golden scripts have doubles for.
DOUBLED = ("node/net/", "zk/model")
# LeaderAndIsr is sent after so many files were entered and functions called. Whoever needs one more
# has a reason that a reader of the walk would give as well.
MAX_FILES, MAX_FUNCTIONS = 26, 114


class Survivor(Client):
    """Asks the follower who leads, and sends one record there."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__("survivor", PARTITION, cluster.fabric, cluster.world, cluster.rng)
        self.answer: Message | Disconnected | None = None

    def start(self) -> None:
        self.ask(FOLLOWER, MetadataRequest(topics=None), METADATA_VERSION, self._send)

    def _send(self, answer: Message | Disconnected) -> None:
        assert isinstance(answer, MetadataResponse)
        (partition,) = answer.topics[0].partitions
        self.ask(partition.leader_id, produce(), PRODUCE_VERSION, self._on_answer)

    def _on_answer(self, answer: Message | Disconnected) -> None:
        self.answer = answer


def produce() -> ProduceRequest:
    batch = encode_batch([Record(0, 1, None, b"v", ())])
    data = PartitionProduceData(index=PARTITION.partition, records=memoryview(batch))
    topic = TopicProduceData(name=PARTITION.topic, partition_data=[data])
    return ProduceRequest(acks=ACKS_ALL, timeout_ms=5_000, topic_data=[topic])


def test_a_killed_leader_is_replaced_in_the_way_that_is_drawn() -> None:
    cluster = Cluster({}, first=CONTROLLER)
    cluster.run_until_us(STEADY_US)
    survivor = Survivor(cluster)

    def kill() -> None:
        cluster.machines[LEADER].kill()
        cluster.clock.after(SOON_US, "ask", survivor.start)
        cluster.run_until(lambda: survivor.answer is not None)

    calls = calls_of(kill)
    assert isinstance(survivor.answer, ProduceResponse)
    assert [one.error_code for one in survivor.answer.responses[0].partition_responses] == [0]
    steps = [step for step in drawn(DRAWN_IN) if not step.files[0].startswith(DOUBLED)]
    assert (len(steps) > 25, missed(steps, calls)) == (True, None)


def test_few_files_lie_between_the_broken_connection_and_leader_and_isr(
    record_property: Callable[[str, object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = steady_world()
    monkeypatch.setattr(Controller, "misplaced", lambda _: iter(()))  # the doubles' own proof

    def kill() -> None:
        world.crash(2)
        world.settle()

    way = until_sent(calls_of(kill))
    files, called = len({call.file for call in way}), len({call for call in way if is_named(call)})
    between = "between the broken connection and the sent LeaderAndIsr"
    record_property(f"files lie {between}", files)
    record_property(f"functions are called {between}", called)
    assert (files <= MAX_FILES, called <= MAX_FUNCTIONS) == (True, True), (files, called)


def steady_world() -> World:
    """Broker 1 is the controller, broker 2 leads what 3 and 4 follow."""
    player = ControllerPlayer()
    player.play("> settings failover_on_refusal=true\n> start 1 2 3 4\n> create orders 0:2,3,4\n")
    player.world.pass_time(1_000)
    return player.world


def until_sent(calls: list[Call]) -> list[Call]:
    functions = [call.function for call in calls]
    begun, sent = functions.index("Vigil._on_ended"), functions.index("BrokerChannel._attempt")
    return [call for call in calls[begun : sent + 1] if not call.file.startswith(DOUBLED)]


def is_named(call: Call) -> bool:
    return not call.function.endswith(">")
