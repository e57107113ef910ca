"""Kafka Streams counts words exactly once (KIP-447), while a broker that leads is killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from logquake.cluster.api import Cluster
from tests.compat.kafka_programs import KafkaPrograms
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

SOURCES = Path(__file__).with_name("java") / "streams"
PARTITIONS = 2
LINES = [f"the fox and the {animal}" for animal in ("dog", "hen", "owl", "fox")] * 50
PATIENCE_S = 200
END_S = 180


class Counts:
    """What a reader of committed records has found of each word, in its order."""

    def __init__(self, servers: str, topic: str) -> None:
        self._found: dict[str, list[int]] = {}
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "counts",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
            }
        )
        self._consumer.subscribe([topic])

    def so_far(self) -> Mapping[str, Sequence[int]]:
        for message in self._consumer.consume(1_000, 0.5):
            word, count = message.key(), message.value()
            if message.error() is None and word is not None and count is not None:
                self._found.setdefault(word.decode(), []).append(int(count))
        return self._found

    def close(self) -> None:
        self._consumer.close()


def write(servers: str, topic: str, lines: Sequence[str]) -> None:
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for number, line in enumerate(lines):
        producer.produce(topic, line, partition=number % PARTITIONS)
    assert producer.flush(END_S) == 0


def test_words_are_counted_once_though_their_leader_is_killed(
    kafka_programs: KafkaPrograms,
    cluster: Cluster,
    topic: Callable[..., str],
    tmp_path: Path,
) -> None:
    source, target = topic(partitions=PARTITIONS), topic(partitions=PARTITIONS)
    servers = cluster.bootstrap_servers
    kafka_programs.need("kafka-streams")
    java = kafka_programs.compiled(SOURCES)
    half = len(LINES) // 2
    words = Counter(" ".join(LINES).split())
    with (
        closing(Counts(servers, target)) as counts,
        java.running("words", "WordCount", servers, source, target, str(tmp_path)) as process,
    ):
        write(servers, source, LINES[:half])
        wait_for("first counts", counts.so_far, timeout_s=PATIENCE_S)
        with cluster.kill(cluster.leader(target, 0)):
            write(servers, source, LINES[half:])
            wait_for(
                "count of every word",
                counts.so_far,
                lambda found: {word: len(each) for word, each in found.items()} == words,
                timeout_s=PATIENCE_S,
            )
        process.communicate(timeout=END_S)
        assert process.returncode == 0
        expected = {word: list(range(1, times + 1)) for word, times in words.items()}
        assert counts.so_far() == expected
