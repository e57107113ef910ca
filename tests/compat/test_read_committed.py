"""Every client's reader of committed records, on a log with aborted and unfinished transactions.

The partition's files are those of a Kafka broker, so that readers and writers are held apart.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as AioPlace
from kafka import KafkaConsumer
from kafka import TopicPartition as PythonPlace

from logquake.cluster.api import Cluster
from tests.compat.adapters.librdkafka import Librdkafka, read_to_end
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.transactional_log import TOPIC
from tests.storage.kafka_wrote import TRANSACTIONAL

UNCOMMITTED, COMMITTED = "read_uncommitted", "read_committed"
Read = Callable[[str, str], list[bytes | None]]

# See TransactionalLog.write; the last transaction that matters is open from value 42 on.
EXPECTED = {
    UNCOMMITTED: [*range(46)],
    COMMITTED: [0, 1, *range(4, 10), *range(18, 24), *range(30, 34)],
}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("cluster")
    old_records_stay = {"log.retention.ms": -1}
    with Cluster(brokers=1, config=old_records_stay, data_dir=folder) as cluster:
        Librdkafka(cluster.bootstrap_servers).create_topic(TOPIC, 1, 1, {})
        with cluster.stop(1):
            partition = folder / "broker-1" / "data" / f"{TOPIC}-0"
            _replace(partition, TRANSACTIONAL)
        cluster.wait_ready()
        yield cluster.bootstrap_servers


def _replace(partition: Path, by: Path) -> None:
    """All but the topic's id, which is ours."""
    kept = (partition / "partition.metadata").read_bytes()
    shutil.rmtree(partition)
    shutil.copytree(by, partition)
    (partition / "partition.metadata").write_bytes(kept)


def with_librdkafka(servers: str, isolation: str) -> list[bytes | None]:
    return read_to_end(servers, TOPIC, 0, isolation)


def with_kafka_python(servers: str, isolation: str) -> list[bytes | None]:
    place = PythonPlace(TOPIC, 0)
    consumer = KafkaConsumer(bootstrap_servers=servers, isolation_level=isolation)
    with closing(consumer):
        consumer.assign([place])
        consumer.seek(place, 0)
        end = consumer.end_offsets([place])[place]
        values: list[bytes | None] = []
        while consumer.position(place) < end:
            values += [each.value for each in consumer.poll(1_000).get(place, [])]
        return values


def with_aiokafka(servers: str, isolation: str) -> list[bytes | None]:
    async def read() -> list[bytes | None]:
        place = AioPlace(TOPIC, 0)
        consumer = AIOKafkaConsumer(bootstrap_servers=servers, isolation_level=isolation)
        async with consumer:
            consumer.assign([place])
            consumer.seek(place, 0)
            end = (await consumer.end_offsets([place]))[place]
            values: list[bytes | None] = []
            while await consumer.position(place) < end:
                got = await consumer.getmany(place, timeout_ms=1_000)
                values += [each.value for each in got.get(place, [])]
            return values

    return asyncio.run(read())


@pytest.mark.parametrize("isolation", [UNCOMMITTED, COMMITTED])
@pytest.mark.parametrize("read", [with_librdkafka, with_kafka_python, with_aiokafka])
def test_a_reader_gets_its_share(servers: str, read: Read, isolation: str) -> None:
    assert read(servers, isolation) == [b"value %d" % number for number in EXPECTED[isolation]]


@pytest.mark.maven
@pytest.mark.parametrize("isolation", [UNCOMMITTED, COMMITTED])
def test_kafkas_own_reader_gets_its_share(
    servers: str, kafka_programs: KafkaPrograms, isolation: str
) -> None:
    expected = [f"value {number}" for number in EXPECTED[isolation]]
    said = kafka_programs.run(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", servers, "--topic", TOPIC, "--partition", "0"),
        *("--offset", "earliest", "--isolation-level", isolation),
        *("--max-messages", str(len(expected))),
        said=f"Processed a total of {len(expected)} messages\n",
    )
    assert said.splitlines() == expected
