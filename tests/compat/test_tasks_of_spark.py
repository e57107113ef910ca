"""What a task of Spark's writes once: held against our brokers and Kafka's, without a JVM for it.

Every request at which a task may die is in tests/unit/pipeline/test_tasks_run_again.py; here are
those steps at which brokers have something to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import pyarrow as pa
import pytest

from logquake.client.consumer.settings import Isolation
from logquake.client.cursor import ReadOptions
from logquake.client.errors import ClientError
from logquake.client.offsets import latest_offsets
from logquake.client.reader import PartitionReader
from logquake.client.routing import Router
from logquake.client.topics import Admin
from logquake.cluster.api import Cluster
from logquake.pipeline.exactly_once import (
    check_epoch,
    read_mark,
    take_id,
    write_mark,
    write_once,
    write_rows,
)
from logquake.pipeline.marks import ExactlyOnceError, Tally, Task
from logquake.pipeline.write_options import WriteOptions, parse_write_options
from logquake.pipeline.writing import rows_of
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.lone_kafka import LoneKafka, lone_broker
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

VALUES = [b"%d" % number for number in range(100)]
ROWS = pa.RecordBatch.from_arrays([pa.array(VALUES, pa.binary())], ["value"])
_numbers = count()


@dataclass
class Target:
    """A topic of one partition, and the task that writes it."""

    options: WriteOptions
    task: Task

    def router(self) -> Router:
        return Router(self.options.client)

    def write(self, task: Task | None = None) -> int:
        with self.router() as router:
            return write_once(router, self.options, task or self.task, [ROWS])

    def committed(self) -> list[bytes | None]:
        """All of it, once no transaction is open."""
        topic = self.options.topic or ""

        def ends() -> list[int]:
            both = (Isolation.READ_UNCOMMITTED, Isolation.READ_COMMITTED)
            return [latest_offsets(router, topic, isolation=each)[0] for each in both]

        with self.router() as router:
            end, _ = wait_for("end of all transactions", ends, lambda both: both[0] == both[1])
            options = ReadOptions(isolation=Isolation.READ_COMMITTED)
            return [
                one.value for one in PartitionReader(router, topic, 0, 0, end, options).records()
            ]


@pytest.fixture(scope="module")
def kafka(kafka_programs: KafkaPrograms, cluster: Cluster) -> Iterator[LoneKafka]:
    with lone_broker(kafka_programs, cluster.zookeeper_connect, transactions=True) as kafka:
        yield kafka


@pytest.fixture(params=["cluster", pytest.param("kafka", marks=pytest.mark.maven)])
def target(request: pytest.FixtureRequest) -> Target:
    brokers: Any = request.getfixturevalue(request.param)
    servers = brokers.servers if request.param == "kafka" else brokers.bootstrap_servers
    topic = f"written-{next(_numbers)}"
    given = {"kafka.bootstrap.servers": servers, "topic": topic, "kafka.batch.size": "50"}
    options = parse_write_options(given | {"deliveryGuarantee": "exactly-once"})
    with Router(options.client) as router:
        Admin(router).create_topic(topic, partitions=1, replication_factor=1)
    return Target(options, Task(f"query-of-{topic}", 7, 0))


def _takes_the_id(target: Target, router: Router) -> Any:
    return take_id(router, target.options, target.task)


def _writes_rows(target: Target, router: Router) -> Any:
    producer = _takes_the_id(target, router)
    write_rows(router, target.options, producer, rows_of([ROWS]))
    return producer


def _writes_its_mark(target: Target, router: Router) -> Any:
    producer = _takes_the_id(target, router)
    tally = Tally()
    write_rows(router, target.options, producer, tally.over(rows_of([ROWS])))
    write_mark(producer, target.task, target.options.topic or "", tally)
    return producer


@pytest.mark.parametrize("come_so_far", [_takes_the_id, _writes_rows, _writes_its_mark])
def test_an_attempt_that_another_one_took_over_from_is_fenced(
    target: Target, come_so_far: Callable[[Target, Router], Any]
) -> None:
    with target.router() as router:
        zombie = come_so_far(target, router)
        assert target.write() == len(VALUES)
        for go_on in (
            lambda: write_rows(router, target.options, zombie, rows_of([ROWS])),
            zombie.commit,
        ):
            with pytest.raises(ClientError, match=r"FENCED|INVALID_PRODUCER_EPOCH"):
                go_on()
    assert target.write() == 0
    assert target.committed() == VALUES


def test_a_mark_counts_once_its_rows_do(target: Target) -> None:
    with target.router() as router:
        producer = _writes_its_mark(target, router)
        producer.commit()
        # Whoever takes the id waits for it; who only looks may be early.
        mark = wait_for("mark", lambda: read_mark(router, target.task))
    assert mark is not None
    assert (mark.epoch, mark.summary.rows) == (7, len(VALUES))
    assert target.write() == 0
    assert target.write(target.task._replace(epoch=8)) == len(VALUES)
    with pytest.raises(ExactlyOnceError, match="epoch 7 is to be written after epoch 8 was"):
        target.write()
    assert target.committed() == 2 * VALUES


def test_partitions_beyond_those_of_an_epoch_are_found_by_their_groups(target: Target) -> None:
    tasks = [target.task._replace(partition=partition) for partition in range(3)]
    for task in tasks:
        target.write(task)
    with target.router() as router:
        for task in tasks:
            wait_for(f"mark of {task}", partial(read_mark, router, task))
        check_epoch(router, tasks)
        with pytest.raises(ExactlyOnceError, match="written twice"):
            check_epoch(router, tasks[:2])
