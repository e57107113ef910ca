"""A broker of ours and one of Kafka's, for the older clients: each as one knows of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from logquake.client.classic.simple_consumer import SimpleConsumer
from logquake.client.errors import BrokerError
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.twins import Twin, twins_of
from tests.waiting import PATIENCE_S, wait_for

PATIENCE_MS = int(PATIENCE_S * 1000)
RELEASE = "0.8.2.2"


class ClassicTwin(Twin):
    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def consumer(self) -> SimpleConsumer:
        return SimpleConsumer("127.0.0.1", self.port, PATIENCE_MS)

    def payloads(self, topic: str, partition: int = 0) -> list[tuple[int, bytes | None]]:
        """All there is, with its offset, from the beginning on, as often as it takes."""
        with self.consumer() as consumer:
            end, *_ = consumer.get_offsets_before(topic, partition, -1, 1)
            found: list[tuple[int, bytes | None]] = []
            while not found or found[-1][0] < end - 1:
                begin = found[-1][0] + 1 if found else 0
                fetched = consumer.fetch(topic, partition, begin, max_wait_ms=500)
                more = [
                    (each.offset, each.message.payload)
                    for each in fetched.messages
                    if each.offset >= begin
                ]
                assert more, (fetched, found)
                found += more
        return found

    def find_coordinator(self, group: str) -> None:
        with self.consumer() as consumer:
            wait_for("coordinator", lambda: consumer.coordinator(group), unready=(BrokerError,))


@contextmanager
def classic_twins(
    programs: KafkaPrograms, zookeeper: str, folder: Path
) -> Iterator[dict[str, ClassicTwin]]:
    """By name: "ours" and "Kafka's"."""
    properties = {
        "offsets.topic.num.partitions": 1,
        "offsets.topic.replication.factor": 1,
        "num.partitions": 1,
    }
    with twins_of(ClassicTwin, programs, zookeeper, folder, properties) as (ours, kafkas):
        yield {"ours": ours, "Kafka's": kafkas}
