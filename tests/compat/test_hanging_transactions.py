"""A transaction that no coordinator knows of, found and ended by Kafka's own tool (KIP-664).

Leaders that verify let none begin (KIP-890); these do not. A batch that comes after the end of its
transaction opens one then, and readers of committed records wait at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.records import BatchFlag, Record, encode_batch
from tests.compat.adapters.transactional import LibrdkafkaTransactions
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.test_transactions import COMMITTED, UNCOMMITTED, committed, read
from tests.conftest import nothing_left_behind
from tests.one_broker import OneBroker

pytestmark = [pytest.mark.maven, pytest.mark.slow]

TOOL = "org.apache.kafka.tools.TransactionsCommand"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
LONG_AGO_MS = 1_700_000_000_000
UNKNOWN_PRODUCER = 987_654
VERIFICATION = "transaction.partition.verification.enable"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    config = {VERIFICATION: "false", "log.retention.ms": -1}
    with nothing_left_behind(folder / "temporary"), Cluster(brokers=1, config=config) as kafka:
        yield kafka


def late_batch(cluster: Cluster, topic: str) -> int:
    """One of a transaction that is over, as it comes to the leader; the error."""
    batch = encode_batch(
        [Record(0, LONG_AGO_MS, None, b"too late")],
        producer_id=UNKNOWN_PRODUCER,
        producer_epoch=0,
        base_sequence=0,
        flags=BatchFlag.TRANSACTIONAL,
    )
    data = TopicProduceData(
        name=topic, partition_data=[PartitionProduceData(index=0, records=bytes(batch))]
    )
    request = ProduceRequest(
        transactional_id="nobody", acks=-1, timeout_ms=10_000, topic_data=[data]
    )
    broker = OneBroker(int(cluster.bootstrap_servers.rpartition(":")[2]))
    answer = broker.ask(request, ProduceResponse, 11)
    return int(answer.responses[0].partition_responses[0].error_code)


def test_it_is_found_and_aborted(
    cluster: Cluster, kafka_programs: KafkaPrograms, topic: Callable[..., str]
) -> None:
    def tool(*arguments: str) -> list[list[str]]:
        """The rows of its table."""
        said = kafka_programs.run(TOOL, "--bootstrap-server", cluster.bootstrap_servers, *arguments)
        return [line.split() for line in said.splitlines()]

    name = topic(replicas=1)
    assert late_batch(cluster, name) == ErrorCode.NONE
    producer = LibrdkafkaTransactions(cluster.bootstrap_servers, "in-order", 60_000)
    producer.begin()
    producer.write(name, 0, [b"whole"])
    producer.commit()
    assert read(cluster, name, 0, UNCOMMITTED) == [b"too late", b"whole"]
    assert read(cluster, name, 0, COMMITTED) == []
    _, hanging = tool("find-hanging", "--topic", name)
    assert hanging[:3] == [name, "0", str(UNKNOWN_PRODUCER)]
    tool("abort", "--topic", name, "--partition", "0", "--start-offset", "0")
    committed(cluster, name, 0, [b"whole"])
    told = kafka_programs.run(
        CONSOLE_CONSUMER,
        *("--bootstrap-server", cluster.bootstrap_servers, "--topic", name, "--from-beginning"),
        *("--isolation-level", "read_committed", "--max-messages", "1"),
        said="Processed a total of 1 messages\n",
    )
    assert told == "whole\n"
    assert tool("find-hanging", "--topic", name)[1:] == []
    producer.close()
