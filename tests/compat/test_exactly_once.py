"""Consume, transform, produce: offsets and records in one transaction, so that each is taken once.

Whoever reads committed records of the target finds each record of the source there once, though
workers die in the middle of a transaction, others join them, and brokers are killed (KIP-98,
KIP-447).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaException,
    Message,
)

from logquake.chaos.workloads.clients import AWAKE, persist
from logquake.cluster.api import Cluster
from tests.compat.adapters import base
from tests.compat.adapters.librdkafka import Librdkafka, transactional_producer
from tests.compat.test_transactions import COMMITTED, read
from tests.in_sync import wait_until_all_in_sync
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.slow

LONG_S = 200
PARTITIONS = 2
RECORDS = 120
A_TRANSACTION = 10  # records, at most

_groups = count()


class Worker:
    """Takes what the source has to the target, some records in each transaction."""

    def __init__(self, servers: str, name: str, group: str, source: str, target: str) -> None:
        self._target = target
        self._producer = transactional_producer(servers, name, AWAKE)
        self._consumer = Consumer(
            {
                **AWAKE,
                "bootstrap.servers": servers,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "session.timeout.ms": 10_000,
            }
        )
        self._consumer.subscribe([source])

    def step(self) -> int:
        """One transaction; how many records it took. What its partitions' move ended is 0."""
        messages = self.take()
        if not messages:
            return 0
        try:
            self.write(messages)
            self.commit()
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            self._take_back()
            return 0
        return len(messages)

    def take(self) -> list[Message]:
        messages = self._consumer.consume(A_TRANSACTION, 1)
        return [each for each in messages if each.error() is None]

    def write(self, messages: Sequence[Message]) -> None:
        """All of a transaction but its end."""
        producer, consumer = self._producer, self._consumer
        producer.begin_transaction()
        for message in messages:
            value = message.value()
            assert value is not None
            producer.produce(self._target, value.upper(), partition=message.partition() or 0)
        positions = consumer.position(consumer.assignment())
        known = [each for each in positions if each.offset >= 0]
        member = consumer.consumer_group_metadata()
        persist(lambda: producer.send_offsets_to_transaction(known, member, PATIENCE_S))

    def commit(self) -> None:
        persist(lambda: self._producer.commit_transaction(PATIENCE_S))

    def leave(self) -> None:
        """The group, not its transaction."""
        self._consumer.close()

    def _take_back(self) -> None:
        persist(lambda: self._producer.abort_transaction(PATIENCE_S))
        for place in self._consumer.committed(self._consumer.assignment(), PATIENCE_S):
            place.offset = place.offset if place.offset >= 0 else OFFSET_BEGINNING
            with suppress(KafkaException):  # it has moved meanwhile
                self._consumer.seek(place)


class Ledger:
    """A source with records, an empty target, and a group that is to take the one to the other."""

    def __init__(self, cluster: Cluster, topic: Callable[..., str]) -> None:
        self._cluster = cluster
        self._servers = cluster.bootstrap_servers
        self.source, self.target = topic(partitions=PARTITIONS), topic(partitions=PARTITIONS)
        self.group = f"exactly-once-{next(_groups)}"
        writer = Librdkafka(self._servers)
        for partition in range(PARTITIONS):
            writer.write(self.source, partition, self._records(partition), base.Writing())

    def worker(self, name: str) -> Worker:
        transactional_id = f"{self.group}-{name}"
        return Worker(self._servers, transactional_id, self.group, self.source, self.target)

    def taken(self) -> list[list[bytes | None]]:
        """What readers of committed records find in each partition of the target."""
        return [
            read(self._cluster, self.target, partition, COMMITTED)
            for partition in range(PARTITIONS)
        ]

    def expected(self) -> list[list[bytes | None]]:
        return [
            [record.value.upper() if record.value else None for record in self._records(partition)]
            for partition in range(PARTITIONS)
        ]

    def finish(self, *workers: Worker) -> None:
        """Until the target has as much as the source, and whatever else is on its way."""

        def step() -> int:
            for worker in workers:
                worker.step()
            return sum(map(len, self.taken()))

        wait_for(
            "target that has everything",
            step,
            lambda found: found >= PARTITIONS * RECORDS,
            timeout_s=LONG_S,
        )
        for worker in workers:
            assert worker.step() == 0
            worker.leave()
        assert self.taken() == self.expected()

    @staticmethod
    def _records(partition: int) -> list[base.Message]:
        return [base.Message(b"p%d r%d" % (partition, each)) for each in range(RECORDS)]


@pytest.fixture
def ledger(cluster: Cluster, topic: Callable[..., str]) -> Ledger:
    return Ledger(cluster, topic)


def test_a_worker_that_dies_amid_a_transaction_is_replaced(ledger: Ledger) -> None:
    first = ledger.worker("w")
    assert wait_for("first transaction", first.step)
    first.write(wait_for("records of the second", first.take))
    first.leave()
    second = ledger.worker("w")
    with pytest.raises(KafkaException) as refused:
        first.commit()
    assert refused.value.args[0].fatal()
    ledger.finish(second)


def test_workers_share_a_group_that_grows_amid_transactions(ledger: Ledger) -> None:
    """Whose partition moves while its transaction is open is refused by its generation."""
    first, second = ledger.worker("a"), ledger.worker("b")
    assert wait_for("first transaction", first.step)
    ledger.finish(first, second)


def test_brokers_that_die_cost_nothing(ledger: Ledger, cluster: Cluster) -> None:
    worker = ledger.worker("w")
    assert wait_for("first transaction", worker.step)
    for victim in (cluster.leader(ledger.target, 0), cluster.leader(ledger.source, 0)):
        wait_until_all_in_sync(cluster, LONG_S)
        with cluster.kill(victim):
            wait_for("transaction without it", worker.step, timeout_s=LONG_S)
    ledger.finish(worker)
