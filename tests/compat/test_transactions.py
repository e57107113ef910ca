"""Real producers' transactions, from their beginning to what readers of committed records see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from logquake.cluster.api import Cluster
from logquake.node.metadata.coordinators import partition_for
from logquake.node.metadata.topic_names import TRANSACTION_STATE_TOPIC
from tests.compat.adapters.librdkafka import LONG_MS, read_to_end
from tests.compat.adapters.transactional import (
    AioKafkaTransactions,
    KafkaPythonTransactions,
    LibrdkafkaTransactions,
    OurAioTransactions,
    OurTransactions,
    TransactionalProducer,
)
from tests.compat.kafka_programs import KafkaPrograms
from tests.conftest import nothing_left_behind
from tests.in_sync import wait_until_all_in_sync
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.slow

STATE_PARTITIONS = 50
UNCOMMITTED, COMMITTED = "read_uncommitted", "read_committed"
LIBRARIES = [
    LibrdkafkaTransactions,
    KafkaPythonTransactions,
    AioKafkaTransactions,
    OurTransactions,
    OurAioTransactions,
]

Begin = Callable[..., TransactionalProducer]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers that look for abandoned transactions often."""
    folder = tmp_path_factory.mktemp("cluster")
    config = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 100}
    with nothing_left_behind(folder / "temporary"), Cluster(brokers=3, config=config) as kafka:
        yield kafka


@pytest.fixture(params=LIBRARIES, ids=[library.__name__ for library in LIBRARIES])
def begin(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Begin]:
    """Start a producer of each library; an id of its own unless it is given one."""
    library: type[TransactionalProducer] = request.param
    with ExitStack() as begun:

        def start(transactional_id: str, timeout_ms: int = LONG_MS) -> TransactionalProducer:
            name = f"{library.__name__}-{transactional_id}"
            return begun.enter_context(
                closing(library(cluster.bootstrap_servers, name, timeout_ms))
            )

        yield start


def read(cluster: Cluster, topic: str, partition: int, isolation: str) -> list[bytes | None]:
    """All there is by now."""
    return read_to_end(cluster.bootstrap_servers, topic, partition, isolation)


def committed(cluster: Cluster, topic: str, partition: int, expected: list[bytes]) -> None:
    """Markers follow the answer to a commit."""
    wait_for(
        f"{expected} in {topic}-{partition}",
        lambda: read(cluster, topic, partition, COMMITTED),
        lambda found: found == expected,
    )


def test_what_is_committed_is_read_and_what_is_aborted_is_not(
    cluster: Cluster, begin: Begin, topic: Callable[..., str]
) -> None:
    name = topic(partitions=2)
    producer = begin("several")
    for number, end in enumerate([producer.commit, producer.abort, producer.commit]):
        producer.begin()
        for partition in range(2):
            producer.write(name, partition, [b"%d first" % number, b"%d last" % number])
        end()
    for partition in range(2):
        committed(cluster, name, partition, [b"0 first", b"0 last", b"2 first", b"2 last"])
        assert len(read(cluster, name, partition, UNCOMMITTED)) == 6


def test_a_successor_fences_and_aborts(
    cluster: Cluster, begin: Begin, topic: Callable[..., str]
) -> None:
    name = topic()
    first = begin("same")
    first.begin()
    first.write(name, 0, [b"torn"])
    second = begin("same")
    second.begin()
    second.write(name, 0, [b"whole"])
    with pytest.raises(first.refusals):
        first.commit()
    second.commit()
    committed(cluster, name, 0, [b"whole"])


def test_an_abandoned_transaction_holds_nobody_up_for_ever(
    cluster: Cluster, begin: Begin, topic: Callable[..., str]
) -> None:
    name = topic()
    abandoned = begin("abandoned", timeout_ms=10_000)
    abandoned.begin()
    abandoned.write(name, 0, [b"never committed"])
    other = begin("other")
    other.begin()
    other.write(name, 0, [b"committed"])
    other.commit()
    committed(cluster, name, 0, [b"committed"])


STEPS = ("begun", "written", "being ended", "ended")


@pytest.mark.parametrize("library", [LibrdkafkaTransactions, OurTransactions])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("commits", [True, False])
def test_a_transaction_outlives_its_coordinator(
    cluster: Cluster,
    topic: Callable[..., str],
    step: str,
    commits: bool,
    library: type[TransactionalProducer],
) -> None:
    """Killed -9 at each step: what was decided is decided, what was not the producer decides."""
    name = topic(partitions=3)
    wait_until_all_in_sync(cluster)  # those before killed coordinators too
    transactional_id = f"killed-{STEPS.index(step)}-{commits}-{library.__name__}"
    producer = library(cluster.bootstrap_servers, transactional_id, LONG_MS)
    end = producer.commit if commits else producer.abort
    with closing(producer), ExitStack() as faults, ThreadPoolExecutor() as beside:

        def kill_at(now: str) -> None:
            if now == step:
                victim = coordinator_of(cluster, transactional_id)
                faults.enter_context(cluster.kill(victim))

        producer.begin()
        producer.write(name, 0, [b"first"])
        kill_at("begun")
        producer.write(name, 1, [b"last"])
        kill_at("written")
        ended = beside.submit(end)
        kill_at("being ended")
        ended.result(PATIENCE_S)
        kill_at("ended")
        for partition, value in enumerate([b"first", b"last"]):
            committed(cluster, name, partition, [value] if commits else [])
        producer.begin()
        producer.write(name, 2, [b"next"])
        producer.commit()
        committed(cluster, name, 2, [b"next"])


def coordinator_of(cluster: Cluster, transactional_id: str) -> int:
    partition = partition_for(transactional_id, STATE_PARTITIONS)
    return cluster.wait_leader(TRANSACTION_STATE_TOPIC, partition)


@pytest.mark.maven
class TestKafkasOwn:
    def test_producer(
        self, cluster: Cluster, kafka_programs: KafkaPrograms, topic: Callable[..., str]
    ) -> None:
        name = topic(partitions=3)
        kafka_programs.run(
            "org.apache.kafka.tools.ProducerPerformance",
            *("--topic", name, "--num-records", "1000", "--record-size", "10"),
            *("--throughput", "-1", "--transactional-id", "java", "--transaction-duration-ms", "5"),
            *("--producer-props", f"bootstrap.servers={cluster.bootstrap_servers}"),
        )
        wait_for(
            "1000 records that are committed",
            lambda: sum(len(read(cluster, name, each, COMMITTED)) for each in range(3)),
            lambda count: count == 1_000,
        )

    def test_tool_for_transactions(
        self,
        cluster: Cluster,
        kafka_programs: KafkaPrograms,
        topic: Callable[..., str],
    ) -> None:
        name = topic()
        producer = LibrdkafkaTransactions(cluster.bootstrap_servers, "shown", LONG_MS)
        producer.begin()
        producer.write(name, 0, [b"undecided"])

        def tool(*arguments: str) -> list[list[str]]:
            """The rows of its table."""
            said = kafka_programs.run(
                "org.apache.kafka.tools.TransactionsCommand",
                *("--bootstrap-server", cluster.bootstrap_servers, *arguments),
            )
            return [line.split() for line in said.splitlines()]

        header, *listed = tool("list")
        assert header == ["TransactionalId", "Coordinator", "ProducerId", "TransactionState"]
        (row,) = [each for each in listed if each[0] == "shown"]
        assert row[3] == "Ongoing"
        described = dict(zip(*tool("describe", "--transactional-id", "shown"), strict=False))
        assert (described["ProducerId"], described["TransactionState"]) == (row[2], "Ongoing")
        assert described["TopicPartitions"] == f"{name}-0"
        _, active = tool("describe-producers", "--topic", name, "--partition", "0")
        assert active[0] == row[2]
        tool("abort", "--topic", name, "--partition", "0", "--start-offset", "0")
        producer.commit()  # the tool asks the partition's leader alone
        committed(cluster, name, 0, [])
        assert read(cluster, name, 0, UNCOMMITTED) == [b"undecided"]
        assert tool("find-hanging", "--broker-id", "1")[1:] == []
