"""What a consumer of any library committed is there when its coordinator was killed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing

import kafka
import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from kafka.structs import OffsetAndMetadata

from logquake.chaos.faults.strikes import Target, kill_leader
from logquake.cluster.api import Cluster
from logquake.node.metadata.coordinators import partition_for
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from tests.compat.adapters.base import Message, Writing
from tests.compat.adapters.librdkafka import Librdkafka
from tests.compat.kafka_programs import KafkaPrograms
from tests.in_sync import wait_until_all_in_sync
from tests.waiting import PATIENCE_S, wait_for

KCAT = shutil.which("kcat") or shutil.which("kafkacat")
RECORDS = 5
PARTITIONS = 50  # of __consumer_offsets
Commit = Callable[[Cluster, str, str], None]


def with_librdkafka(cluster: Cluster, topic: str, group: str) -> None:
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group}
    with closing(Consumer(settings)) as consumer:
        consumer.commit(offsets=[TopicPartition(topic, 0, RECORDS)], asynchronous=False)


def with_kafka_python(cluster: Cluster, topic: str, group: str) -> None:
    settings = {"bootstrap_servers": cluster.bootstrap_servers, "group_id": group}
    with closing(kafka.KafkaConsumer(**settings)) as consumer:
        partition = kafka.TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.commit({partition: OffsetAndMetadata(RECORDS, "", -1)})


def with_kcat(cluster: Cluster, topic: str, group: str) -> None:
    """It reads to the end as the group's only member, and commits when it goes."""
    if KCAT is None:
        pytest.skip("kcat is not installed")
    command = [KCAT, "-q", "-b", cluster.bootstrap_servers, "-G", group, "-e"]
    from_start = ["-X", "auto.offset.reset=earliest", topic]
    subprocess.run([*command, *from_start], check=True, capture_output=True, timeout=PATIENCE_S)


def with_the_java_consumer(
    cluster: Cluster, programs: KafkaPrograms, topic: str, group: str
) -> None:
    programs.run(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", cluster.bootstrap_servers, "--topic", topic, "--group", group),
        *("--from-beginning", "--max-messages", str(RECORDS)),
        said=f"Processed a total of {RECORDS} messages\n",
    )


@pytest.fixture
def orders(cluster: Cluster, topic: Callable[..., str]) -> str:
    """With some records in its one partition."""
    name = topic()
    records = [Message(b"%d" % number) for number in range(RECORDS)]
    Librdkafka(cluster.bootstrap_servers).write(name, 0, records, Writing())
    return name


def committed(cluster: Cluster, topic: str, group: str) -> int:
    """As a client says that knows none of the brokers yet."""
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group}
    with closing(Consumer(settings)) as consumer:
        (found,) = consumer.committed([TopicPartition(topic, 0)], timeout=10)
        if found.error is not None:
            raise KafkaException(found.error)
        return int(found.offset)


def check_failover(cluster: Cluster, topic: str, group: str) -> None:
    """Its coordinator is killed, and another one knows what was committed."""

    def check(coordinator: str) -> None:
        found = wait_for(
            f"an answer of {coordinator}",
            lambda: [committed(cluster, topic, group)],
            unready=(KafkaException,),
        )
        assert found == [RECORDS]

    check("the coordinator")
    wait_until_all_in_sync(cluster)
    coordinated = Target(GROUP_METADATA_TOPIC, partition_for(group, PARTITIONS))
    with kill_leader(cluster, coordinated):
        check("the next coordinator")


@pytest.mark.parametrize("commit", [with_librdkafka, with_kafka_python, with_kcat])
def test_commits_survive_their_coordinator(cluster: Cluster, orders: str, commit: Commit) -> None:
    group = f"{commit.__name__}-{orders}"
    commit(cluster, orders, group)
    check_failover(cluster, orders, group)


@pytest.mark.maven
@pytest.mark.slow
def test_commits_of_the_java_consumer_survive_their_coordinator(
    cluster: Cluster, kafka_programs: KafkaPrograms, orders: str
) -> None:
    kafka_programs.run(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", cluster.bootstrap_servers, "--topic", orders, "--group", "java"),
        *("--from-beginning", "--max-messages", str(RECORDS)),
        said=f"Processed a total of {RECORDS} messages\n",
    )
    check_failover(cluster, orders, "java")
