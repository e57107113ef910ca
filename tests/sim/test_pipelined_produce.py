"""How often a batch is in the log when the leader changes under requests in flight.

A producer has some requests in flight on one connection, all with acks=all. The leader dies at the
worst moment: the followers have all that it appended, and it does not know yet. Then the producer
sends again what it has no ack for, in the same order, to the new leader. Kafka, which mutes a
connection until the answer is sent, doubles one batch (SocketServer.Processor).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from logquake.controller.ports import Disconnected
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.records import Record, encode_batch, read_header
from logquake.wire.schema import Message
from logquake.zk.model_session import ModelServer
from logquake.zk.operations import Create
from logquake.zk.znodes.topics import TopicAssignment
from tests.sim.clients import ACKS_ALL, PRODUCE_TIMEOUT_MS, PRODUCE_VERSION, Client
from tests.sim.clock import Clock
from tests.sim.delays import Delays
from tests.sim.machine import Machine
from tests.sim.network import Fabric
from tests.sim.payloads import AsObjects
from tests.sim.replicas import TopicPartition
from tests.sim.simulation import Bystander
from tests.sim.trace import Trace
from tests.sim.world import World

PARTITION: TopicPartition = ("orders", 0)
MIN_ISR = 2
IN_FLIGHT = 5
PRODUCER_ID = 7
RETRY_MS = 100
LEADER, FOLLOWERS = 1, (2, 3)
CREATED_US = 500_000
HELD_US = 1_500_000  # from now on no fetch reaches the leader
SENT_US = 2_000_000  # no fetch waits at the leader either
RELEASED_US = 2_300_000  # all was appended that will be: the next fetches get all of it
BOUND_US = 30_000_000


class BurstProducer(Client):
    """Sends all its batches at once, and again, in order, until each has been acked."""

    def __init__(self, world: World, fabric: Fabric, *, idempotent: bool) -> None:
        super().__init__("burst", PARTITION, fabric, world, Random(1))
        self.batches = [_batch(number, idempotent=idempotent) for number in range(IN_FLIGHT)]
        self.unacked = set(range(IN_FLIGHT))
        self._in_flight = 0

    def start(self) -> None:
        leader = self._leader()
        self._in_flight = len(self.unacked)
        for number in sorted(self.unacked):
            self.ask(
                leader,
                _request(self.batches[number]),
                PRODUCE_VERSION,
                lambda answer, number=number: self._on_answer(number, answer),
            )

    def _leader(self) -> int:
        state = self.world.decisions.partitions[PARTITION].state
        return self.any_broker() if state is None or state.leader < 0 else state.leader

    def _on_answer(self, number: int, answer: Message | Disconnected) -> None:
        if isinstance(answer, ProduceResponse) and not _error(answer):
            self.unacked.discard(number)
        self._in_flight -= 1
        if self.unacked and not self._in_flight:
            self.later(RETRY_MS, RETRY_MS, self.start)


class Cluster:
    """Three brokers, one partition that broker 1 leads until it dies, and the producer."""

    def __init__(self, pipelining: str, *, idempotent: bool) -> None:
        rng = Random(1)
        self.clock = Clock()
        self.zookeeper = ModelServer()
        self.fabric = fabric = Fabric(self.clock, Delays(rng), AsObjects())
        trace = Trace(self.clock)
        keys = {"logquake.produce.pipelining": pipelining}
        self.machines = {
            broker: Machine(broker, fabric, self.zookeeper, trace, rng, keys)
            for broker in (LEADER, *FOLLOWERS)
        }
        self.world = World(list(self.machines.values()), self.zookeeper.model, MIN_ISR)
        self.producer = BurstProducer(self.world, fabric, idempotent=idempotent)
        for machine in self.machines.values():
            machine.start()
        self.clock.at(CREATED_US, "a topic is made", self._create_topic)

    def run(self) -> None:
        """Until everything was acked, by another leader."""
        self._run_until_us(HELD_US)
        self._hold_fetches()
        self._run_until_us(SENT_US)
        self.producer.start()
        self._run_until_us(RELEASED_US)
        self._release_fetches()
        self._run_until(self._followers_have_all)
        self.machines[LEADER].kill()
        self._run_until(lambda: not self.producer.unacked)

    def _run_until_us(self, at_us: int) -> None:
        self.clock.at(at_us, "the time has come", lambda: None)
        self._run_until(lambda: self.clock.now_us >= at_us)

    def _run_until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            event = self.clock.next_event()
            assert event is not None
            assert event.action is not None
            assert self.clock.now_us < BOUND_US, "what was waited for did not happen"
            event.action()
            self.world.observe()

    def _hold_fetches(self) -> None:
        for follower in FOLLOWERS:
            self.fabric.cut(f"b{follower}", f"b{LEADER}")

    def _release_fetches(self) -> None:
        for follower in FOLLOWERS:
            self.fabric.heal(f"b{follower}", f"b{LEADER}")

    def _followers_have_all(self) -> bool:
        end = self.world.replica(LEADER, PARTITION).end
        assert not self.world.committed[PARTITION].end
        return all(self.world.replica(each, PARTITION).end == end > 0 for each in FOLLOWERS)

    def copies(self) -> Counter[int]:
        """Of each batch, how often it is in the committed log."""
        values = {read_header(memoryview(b)).crc: n for n, b in enumerate(self.producer.batches)}
        return Counter(values[batch.value] for batch in self.world.committed[PARTITION].batches)

    def _create_topic(self) -> None:
        admin = self.zookeeper.connect(Bystander(), lambda action: action())
        assignment = TopicAssignment(bytes(15) + b"\1", {0: (1, 2, 3)})
        admin.submit(Create(TopicAssignment.path("orders"), assignment.encode()), lambda _: None)


def _batch(number: int, *, idempotent: bool) -> bytearray:
    records = [Record(0, 0, None, b"%d" % number, ())]
    if not idempotent:
        return encode_batch(records)
    return encode_batch(records, producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=number)


def _request(batch: bytearray) -> ProduceRequest:
    topic, index = PARTITION
    data = PartitionProduceData(index=index, records=bytearray(batch))
    return ProduceRequest(
        acks=ACKS_ALL,
        timeout_ms=PRODUCE_TIMEOUT_MS,
        topic_data=[TopicProduceData(name=topic, partition_data=[data])],
    )


def _error(answer: ProduceResponse) -> int:
    return answer.responses[0].partition_responses[0].error_code


def duplicates(pipelining: str, *, idempotent: bool) -> int:
    cluster = Cluster(pipelining, idempotent=idempotent)
    cluster.run()
    copies = cluster.copies()
    assert set(copies) == set(range(IN_FLIGHT))
    return sum(copies.values()) - IN_FLIGHT


@pytest.mark.parametrize(
    ("pipelining", "expected"), [("all", IN_FLIGHT), ("idempotent", 1), ("none", 1)]
)
def test_a_leader_change_doubles_what_was_appended_and_not_answered(
    pipelining: str, expected: int
) -> None:
    assert duplicates(pipelining, idempotent=False) == expected


@pytest.mark.parametrize("pipelining", ["all", "idempotent", "none"])
def test_a_leader_change_doubles_nothing_of_an_idempotent_producer(pipelining: str) -> None:
    assert duplicates(pipelining, idempotent=True) == 0
