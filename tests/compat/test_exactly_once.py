"""Consume, transform, produce: offsets and records in one transaction, so that each is taken once.

Whoever reads committed records of the target finds each record of the source there once, though
workers die in the middle of a transaction, others join them, and brokers are killed (KIP-98,
KIP-447).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from tests.compat.adapters import base
from tests.compat.adapters.librdkafka import Librdkafka
from tests.compat.adapters.workers import LibrdkafkaWorker, OurWorker, Worker
from tests.compat.test_transactions import COMMITTED, read
from tests.in_sync import wait_until_all_in_sync
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

LONG_S = 200
PARTITIONS = 2
RECORDS = 120

_groups = count()


class Ledger:
    """A source with records, an empty target, and a group that is to take the one to the other."""

    def __init__(
        self,
        cluster: Cluster,
        topic: Callable[..., str],
        kind: type[Worker[Any]],
        opened: ExitStack,
    ) -> None:
        self._cluster = cluster
        self._kind = kind
        self._opened = opened
        self._servers = cluster.bootstrap_servers
        self.source, self.target = topic(partitions=PARTITIONS), topic(partitions=PARTITIONS)
        self.group = f"exactly-once-{next(_groups)}"
        writer = Librdkafka(self._servers)
        for partition in range(PARTITIONS):
            writer.write(self.source, partition, self._records(partition), base.Writing())

    def worker(self, name: str, kind: type[Worker[Any]] | None = None) -> Worker[Any]:
        made: Any = kind or self._kind
        told = (f"{self.group}-{name}", self.group, self.source, self.target)
        worker: Worker[Any] = made(self._servers, *told)
        self._opened.callback(worker.close)
        return worker

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

    def finish(self, *workers: Worker[Any]) -> None:
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


@pytest.fixture(params=[LibrdkafkaWorker, OurWorker], ids=lambda kind: kind.__name__)
def ledger(
    cluster: Cluster, topic: Callable[..., str], request: pytest.FixtureRequest
) -> Iterator[Ledger]:
    with ExitStack() as opened:
        yield Ledger(cluster, topic, request.param, opened)


def test_a_worker_that_dies_amid_a_transaction_is_replaced(ledger: Ledger) -> None:
    first = ledger.worker("w")
    assert wait_for("first transaction", first.step)
    first.write(wait_for("records of the second", first.take))
    first.leave()
    second = ledger.worker("w")
    with pytest.raises(first.fenced, match=r"(?i)fence"):
        first.commit()
    ledger.finish(second)


def test_workers_share_a_group_that_grows_amid_transactions(ledger: Ledger) -> None:
    """Whose partition moves while its transaction is open is refused by its generation."""
    first, second = ledger.worker("a"), ledger.worker("b")
    assert wait_for("first transaction", first.step)
    ledger.finish(first, second)


@pytest.mark.parametrize("ledger", [OurWorker], indirect=True)
def test_workers_of_two_clients_share_a_group(ledger: Ledger) -> None:
    first, second = ledger.worker("a"), ledger.worker("b", LibrdkafkaWorker)
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
