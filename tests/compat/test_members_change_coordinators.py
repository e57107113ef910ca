"""Members of real clients live on while ours and Kafka's take over their coordinator in turn.

Each commits after every record. The one that coordinates is killed amid that, and nobody joins
anew: no record is read twice, and who comes when all have gone begins behind the last one.
"""

from __future__ import annotations

import gc
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import kafka
import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import NewTopic
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from logquake.client.consumer.offsets import OffsetAndMetadata as OurOffset
from logquake.client.sync.consumer import Consumer as OurConsumer
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.wire.topic_partition import TopicPartition as Place
from tests.compat.coordinated_in_turns import (
    LEADS_RECORDS,
    OURS,
    cluster_of_ours,
    coordinated_by_both,
)
from tests.compat.group_members import (
    POLL_S,
    GroupMember,
    KafkaPythonMember,
    LibrdkafkaMember,
    members,
)
from tests.compat.joining_kafka import kill
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.new_topics import create
from tests.compat.our_members import OurMember
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [
    pytest.mark.maven,
    pytest.mark.slow,
    # kafka-python lets go of sockets, unclosed, to which nobody listens any more.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

WORK, GROUP = "work", "workers"
PARTITIONS = 3
MORE = 20  # records that each member reads and commits, to show that it goes on
PAUSE_S = 0.02
PATIENCE_MS = int(PATIENCE_S * 1000)


@pytest.fixture(autouse=True)
def _collects_what_clients_left(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.CRITICAL, "kafka")  # records of failures would hold the sockets
    yield
    gc.collect()


def _commit(commit: Callable[[], Any], refusal: type[Exception]) -> None:
    """Until it is taken: its coordinator may be gone."""

    def is_taken() -> bool:
        commit()
        return True

    wait_for("a commit that is taken", is_taken, unready=(refusal,))


class LibrdkafkaWorker(LibrdkafkaMember):
    auto_commit = False

    def _take_next(self, consumer: Consumer) -> None:
        message = consumer.poll(POLL_S)
        if message is not None and message.error() is None:
            self.read.append(message.value() or b"")
            _commit(partial(consumer.commit, message=message, asynchronous=False), KafkaException)


class KafkaPythonWorker(KafkaPythonMember):
    auto_commit = False

    def _take_next(self, consumer: kafka.KafkaConsumer) -> None:
        polled = consumer.poll(timeout_ms=int(POLL_S * 1000), max_records=1)
        for partition, (record,) in polled.items():
            self.read.append(record.value)
            offset = {partition: OffsetAndMetadata(record.offset + 1, "", -1)}
            _commit(partial(consumer.commit, offset), KafkaError)


class OurWorker(OurMember):
    """Its commit is tried again until it is taken."""

    auto_commit = False

    def config(self) -> dict[str, object]:
        return {**super().config(), "max.poll.records": 1}

    def _take_next(self, consumer: OurConsumer) -> None:
        for record in consumer.poll(int(POLL_S * 1000)):
            self.read.append(record.value)
            place = Place(record.topic, record.partition)
            consumer.commit({place: OurOffset(record.offset + 1)}, timeout_ms=PATIENCE_MS)


class Writer:
    """Values one after the other, to each partition in turn, until the end of its block."""

    def __init__(self, servers: str) -> None:
        self.written: list[bytes] = []
        self._producer = Producer({"bootstrap.servers": servers, "log_level": 0})
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join(PATIENCE_S)
        assert self._producer.flush(PATIENCE_S) == 0

    def _write(self) -> None:
        while not self._stopping.wait(PAUSE_S):
            value = b"%d" % len(self.written)
            self.written.append(value)
            self._producer.produce(WORK, value, partition=len(self.written) % PARTITIONS)
            self._producer.poll(0)


@contextmanager
def nobody_joins_anew(workers: Sequence[GroupMember]) -> Iterator[None]:
    """And all go on reading and committing at its end."""
    before = [each.rebalances for each in workers]
    yield
    wanted = [len(each.read) + MORE for each in workers]
    wait_for(
        "members that go on",
        lambda: [len(each.read) for each in workers],
        lambda now: all(has >= wants for has, wants in zip(now, wanted, strict=True)),
    )
    assert [each.rebalances for each in workers] == before


WORKERS: list[type[GroupMember]] = [LibrdkafkaWorker, KafkaPythonWorker, OurWorker]


def committed(servers: str) -> list[int]:
    asked = [TopicPartition(WORK, partition) for partition in range(PARTITIONS)]
    with closing(Consumer({"bootstrap.servers": servers, "group.id": GROUP})) as consumer:
        return [each.offset for each in consumer.committed(asked, timeout=PATIENCE_S)]


def test_members_live_on_whoever_coordinates_them(
    kafka_programs: KafkaPrograms, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        cluster_of_ours(tmp_path_factory.mktemp("cluster")) as cluster,
        coordinated_by_both(kafka_programs, cluster) as kafkas,
    ):
        servers = cluster.bootstrap_servers
        create(
            servers,
            NewTopic(WORK, PARTITIONS, replica_assignment=[[LEADS_RECORDS]] * PARTITIONS),
        )
        each = [kind(servers, GROUP, [WORK]) for kind in WORKERS]
        with members(*each) as workers:
            with Writer(servers) as writer:
                wait_for(
                    "a partition each",
                    lambda: [len(worker.assigned) for worker in workers],
                    lambda shares: shares == [1] * PARTITIONS,
                )
                with nobody_joins_anew(workers):
                    pass
                with cluster.kill(OURS), nobody_joins_anew(workers):
                    pass
                cluster.wait_isr(GROUP_METADATA_TOPIC, 0, size=2, timeout=PATIENCE_S)
                with nobody_joins_anew(workers):
                    kill(kafkas, cluster)
            wait_for(
                "all that was written",
                lambda: sum(len(worker.read) for worker in workers),
                lambda read: read >= len(writer.written),
            )
        read = Counter(value for worker in workers for value in worker.read)
        assert read == Counter(writer.written)
        assert sum(committed(servers)) == len(writer.written)
