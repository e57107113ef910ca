"""What a task of Spark's writes once, and what it reads of a range that is not there any more: held
against our brokers and Kafka's, without a JVM for it.

Every request at which a task may die is in tests/unit/pipeline/sink/test_tasks_run_again.py; here
are those steps at which brokers have something to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import pyarrow as pa
import pytest

from logquake.client import Admin, Consumer, Producer
from logquake.client.admin import NewTopic
from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.pipeline.sink.deliveries import Deliveries
from logquake.pipeline.sink.exactly_once import (
    check_epoch,
    read_mark,
    write_mark,
    write_once,
)
from logquake.pipeline.sink.marks import ExactlyOnceError, Task
from logquake.pipeline.sink.options import WriteOptions, parse_write_options
from logquake.pipeline.sink.tally import Tally
from logquake.pipeline.sink.writing import send_batches
from logquake.pipeline.source.admission import DataLossError
from logquake.pipeline.source.options import ReadOptions, parse_options
from logquake.pipeline.source.planning import OffsetRange
from logquake.pipeline.source.reading import read_range
from logquake.wire.topic_partition import TopicPartition
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

    @property
    def topic(self) -> str:
        return self.options.topic or ""

    def admin(self) -> Admin:
        return Admin(self.options.admin)

    def producer(self, task: Task) -> Producer:
        return Producer({**self.options.producer, "transactional.id": task.name})

    def write(self, task: Task | None = None) -> int:
        task = task or self.task
        with self.admin() as admin, self.producer(task) as producer:
            return write_once(producer, admin, task, [ROWS], self.topic)

    def committed(self) -> list[bytes | None]:
        """All of it, once no transaction is open."""
        place = TopicPartition(self.topic, 0)
        keys = {"bootstrap.servers": self.options.admin["bootstrap.servers"]}
        isolated = {"isolation.level": "read_committed", "auto.offset.reset": "earliest"}
        with Consumer(keys) as every, Consumer(keys | isolated) as committed:

            def ends() -> list[int]:
                return [each.end_offsets([place])[place] for each in (every, committed)]

            end, _ = wait_for("end of all transactions", ends, lambda both: both[0] == both[1])
            committed.assign([place])
            values: list[bytes | None] = []
            while committed.position(place) < end:
                values += [record.value for record in committed.poll(1_000)]
            return values


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
    with Admin(options.admin) as admin:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    return Target(options, Task(f"query-of-{topic}", 7, 0))


def _takes_the_id(_: Target, producer: Producer) -> None:
    producer.init_transactions()
    producer.begin_transaction()


def _writes_rows(target: Target, producer: Producer) -> None:
    _takes_the_id(target, producer)
    send_batches(producer, [ROWS], target.topic, Deliveries())
    producer.flush()


def _writes_its_mark(target: Target, producer: Producer) -> None:
    _takes_the_id(target, producer)
    tally = Tally()
    send_batches(producer, tally.over([ROWS]), target.topic, Deliveries())
    write_mark(producer, target.task, target.topic, tally)


@pytest.mark.parametrize("come_so_far", [_takes_the_id, _writes_rows, _writes_its_mark])
def test_an_attempt_that_another_one_took_over_from_is_fenced(
    target: Target, come_so_far: Callable[[Target, Producer], None]
) -> None:
    with target.producer(target.task) as zombie:
        come_so_far(target, zombie)
        assert target.write() == len(VALUES)
        with pytest.raises(ClientError, match=r"fenced|FENCED|INVALID_PRODUCER_EPOCH"):
            _goes_on(target, zombie)
    assert target.write() == 0
    assert target.committed() == VALUES


def _goes_on(target: Target, zombie: Producer) -> None:
    send_batches(zombie, [ROWS], target.topic, Deliveries())
    zombie.commit_transaction()


def test_a_mark_counts_once_its_rows_do(target: Target) -> None:
    with target.producer(target.task) as producer, target.admin() as admin:
        _writes_its_mark(target, producer)
        producer.commit_transaction()
        # Whoever takes the id waits for it; who only looks may be early.
        mark = wait_for("mark", lambda: read_mark(admin, target.task))
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
    with target.admin() as admin:
        for task in tasks:
            wait_for(f"mark of {task}", partial(read_mark, admin, task))
        check_epoch(admin, tasks)
        with pytest.raises(ExactlyOnceError, match="written twice"):
            check_epoch(admin, tasks[:2])


def test_what_a_log_does_not_reach_any_more_is_given_up_where_loss_is_allowed(
    target: Target,
) -> None:
    target.write()
    planned = OffsetRange(target.topic, 0, 95, 10_000)  # before the log was cut off
    rows = pa.Table.from_batches(read_range(_reading(target, failOnDataLoss="false"), planned))
    assert rows.column("value").to_pylist() == VALUES[95:]


@pytest.mark.parametrize(
    ("start", "lost"),
    [
        pytest.param(95, r"-0 ends at offset \d+, before 10000", id="behind the end"),
        pytest.param(9_000, r"-0 ends at offset \d+, and was read up to 9000", id="all of it"),
    ],
)
def test_what_a_log_does_not_reach_any_more_is_told_as_lost(
    target: Target, start: int, lost: str
) -> None:
    target.write()
    with pytest.raises(DataLossError, match=lost):
        list(read_range(_reading(target), OffsetRange(target.topic, 0, start, 10_000)))


def test_what_was_deleted_since_it_was_planned_is_told_as_lost(target: Target) -> None:
    target.write()
    place = TopicPartition(target.topic, 0)
    with target.admin() as admin:
        admin.delete_records({place: 30})[place].result()
    with pytest.raises(DataLossError, match="has lost offsets 10 to 29: its log begins at 30"):
        list(read_range(_reading(target), OffsetRange(target.topic, 0, 10, 50)))


def _reading(target: Target, **options: str) -> ReadOptions:
    given = {
        "kafka.bootstrap.servers": target.options.admin["bootstrap.servers"],
        "kafka.default.api.timeout.ms": "5000",
        "subscribe": target.topic,
    }
    return parse_options(given | options)
