"""How often a batch is in the log when the leader changes under requests in flight.

A producer has some requests in flight on one connection, all with acks=all. The leader dies at the
worst moment: the followers have all that it appended, and it does not know yet. Then the producer
sends again what it has no ack for, in the same order, to the new leader. Kafka, which mutes a
connection until the answer is sent, doubles one batch (SocketServer.Processor).
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from random import Random

import pytest

from logquake.seams.network import Disconnected
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.records import Record, encode_batch, read_header
from logquake.wire.schema import Message
from logquake.wire.sentinels import ACKS_ALL
from tests.sim.clients import PRODUCE_TIMEOUT_MS, PRODUCE_VERSION, Client
from tests.sim.cluster import PARTITION, Cluster
from tests.sim.network import Fabric
from tests.sim.world import World

IN_FLIGHT = 5
PRODUCER_ID = 7
RETRY_MS = 100
LEADER, FOLLOWERS = 1, (2, 3)
HELD_US = 1_500_000  # from now on no fetch reaches the leader
SENT_US = 2_000_000  # no fetch waits at the leader either
RELEASED_US = 2_300_000  # all was appended that will be: the next fetches get all of it


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
                partial(self._on_answer, number),
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


class Burst(Cluster):
    """One partition that broker 1 leads until it dies, and the producer."""

    def __init__(self, pipelining: str, *, idempotent: bool) -> None:
        super().__init__({"logquake.produce.pipelining": pipelining})
        self.producer = BurstProducer(self.world, self.fabric, idempotent=idempotent)

    def run(self) -> None:
        """Until everything was acked, by another leader."""
        self.run_until_us(HELD_US)
        self._hold_fetches()
        self.run_until_us(SENT_US)
        self.producer.start()
        self.run_until_us(RELEASED_US)
        self._release_fetches()
        self.run_until(self._followers_have_all)
        self.machines[LEADER].kill()
        self.run_until(lambda: not self.producer.unacked)

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
    cluster = Burst(pipelining, idempotent=idempotent)
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
