"""A broker of Apache Kafka 3.9 joins a cluster, and both kinds lead, follow, die and come back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.cluster.api import Cluster
from logquake.wire.records import iterate_batches
from tests.compat.adapters.base import Adapter, Message, Writing
from tests.compat.adapters.librdkafka import Librdkafka
from tests.compat.joining_kafka import KAFKA_ID, joining_properties, registered_kafka
from tests.compat.kafka_programs import KafkaPrograms
from tests.every_broker import wait_until_all_tell
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.maven, pytest.mark.slow]

LED_BY_OURS, LED_BY_KAFKA = 0, 1
ASSIGNMENT = [[1, KAFKA_ID], [KAFKA_ID, 2]]  # by partition, the preferred leader first
PER_ROUND = 50


@pytest.fixture
def properties(kafka_programs: KafkaPrograms, cluster: Cluster) -> dict[str, object]:
    return joining_properties(kafka_programs, cluster)


@contextmanager
def kafka_broker(
    programs: KafkaPrograms, properties: dict[str, object], cluster: Cluster, topic: str
) -> Iterator[Popen[bytes]]:
    """Up, and in every ISR."""
    with registered_kafka(programs, properties, cluster) as process:
        in_sync(cluster, topic, 2)
        yield process


def in_sync(cluster: Cluster, topic: str, size: int) -> None:
    for partition in range(len(ASSIGNMENT)):
        cluster.wait_isr(topic, partition, size=size, timeout=PATIENCE_S)


def create(cluster: Cluster, name: str) -> str:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    new = NewTopic(
        name, len(ASSIGNMENT), replica_assignment=ASSIGNMENT, config={"min.insync.replicas": "1"}
    )
    admin.create_topics([new])[name].result(PATIENCE_S)
    wait_until_all_tell(cluster.bootstrap_servers, name, len(ASSIGNMENT))
    return name


class Written:
    """Rounds of acked messages, and the check that all of them are there in their order."""

    def __init__(self, client: Adapter, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._rounds = 0

    def write(self) -> None:
        for partition in range(len(ASSIGNMENT)):
            messages = self._messages(self._rounds)
            offsets = self._client.write(
                self._topic, partition, messages, Writing(codec="lz4", idempotent=True)
            )
            first = self._rounds * PER_ROUND
            assert offsets == list(range(first, first + PER_ROUND))
        self._rounds += 1

    def check(self) -> None:
        expected = [message for each in range(self._rounds) for message in self._messages(each)]
        for partition in range(len(ASSIGNMENT)):
            assert self._client.read(self._topic, partition, len(expected)) == expected

    @staticmethod
    def _messages(of_round: int) -> list[Message]:
        return [Message(b"%d-%d" % (of_round, index)) for index in range(PER_ROUND)]


def test_kafka_and_ours_replicate_for_each_other(
    kafka_programs: KafkaPrograms, cluster: Cluster, properties: dict[str, object]
) -> None:
    with registered_kafka(kafka_programs, properties, cluster):
        topic = create(cluster, "mixed")
        written = Written(Librdkafka(cluster.bootstrap_servers), topic)
        in_sync(cluster, topic, 2)
        assert cluster.leader(topic, LED_BY_KAFKA) == KAFKA_ID
        written.write()
    in_sync(cluster, topic, 1)  # it was killed: ours lead both
    assert cluster.wait_leader(topic, LED_BY_KAFKA) == 2
    written.write()
    with kafka_broker(kafka_programs, properties, cluster, topic):
        written.write()
        with cluster.kill(1) as fault:
            leader = cluster.wait_leader_change(topic, LED_BY_OURS, since=fault)
            assert leader == KAFKA_ID
            written.write()
        in_sync(cluster, topic, 2)
        written.check()
        _same_bytes(cluster, kafka_programs, topic)


def test_emptied_followers_get_past_a_log_start_within_a_batch(
    kafka_programs: KafkaPrograms, cluster: Cluster, properties: dict[str, object]
) -> None:
    """Ours behind a leader of Kafka's, and the other way round."""
    with registered_kafka(kafka_programs, properties, cluster):
        topic = create(cluster, "begun-late")
        in_sync(cluster, topic, 2)
        Written(Librdkafka(cluster.bootstrap_servers), topic).write()
        _delete_first_half(cluster, topic)
        with cluster.kill(2):
            cluster.wait_isr(topic, LED_BY_KAFKA, size=1, timeout=PATIENCE_S)
            shutil.rmtree(cluster.layout.data_of(2))
        in_sync(cluster, topic, 2)
    in_sync(cluster, topic, 1)
    shutil.rmtree(kafka_programs.folder / "data")
    with kafka_broker(kafka_programs, properties, cluster, topic):
        _same_bytes(cluster, kafka_programs, topic)
        for partition, ours in enumerate((1, 2)):  # Kafka has what they lead
            assert cluster.leader(topic, partition) == ours
            name = f"{topic}-{partition}/{0:020d}.log"
            log = (cluster.layout.data_of(ours) / name).read_bytes()
            assert len(list(iterate_batches(memoryview(log)))) == 1


def _delete_first_half(cluster: Cluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    asked = [TopicPartition(topic, each, PER_ROUND // 2) for each in range(len(ASSIGNMENT))]
    for deleted in admin.delete_records(asked, operation_timeout=PATIENCE_S).values():
        assert deleted.result(PATIENCE_S).low_watermark == PER_ROUND // 2


def _same_bytes(cluster: Cluster, programs: KafkaPrograms, topic: str) -> None:
    for partition, replicas in enumerate(ASSIGNMENT):
        ours = next(each for each in replicas if each != KAFKA_ID)
        name = f"{topic}-{partition}/{0:020d}.log"
        our_log = (cluster.layout.data_of(ours) / name).read_bytes()
        assert our_log == (programs.folder / "data" / name).read_bytes()
