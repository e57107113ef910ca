"""Members of our own making, and Kafka's Java ones to share a group with."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from logquake.client.sync.consumer import Consumer
from logquake.wire.topic_partition import TopicPartition
from tests.compat.group_members import POLL_S, GroupMember
from tests.compat.kafka_programs import KafkaPrograms

JAVA_SOURCES = Path(__file__).with_name("java") / "member"


class OurMember(GroupMember):
    """``told`` is what its listener heard: the verb, and the partitions."""

    strategy: Sequence[str] = ("range",)

    def __init__(self, *of: Any, **settings: Any) -> None:
        self.told: list[tuple[str, tuple[TopicPartition, ...]]] = []
        super().__init__(*of, **settings)

    def config(self) -> dict[str, object]:
        return {
            "bootstrap.servers": self.servers,
            "group.id": self.group,
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": ",".join(self.strategy),
            "session.timeout.ms": self.session_timeout_ms,
            "heartbeat.interval.ms": 300,
            "metadata.max.age.ms": 1_000,
            "enable.auto.commit": self.auto_commit,
            **({"group.instance.id": self.instance_id} if self.instance_id else {}),
        }

    def _consume(self) -> None:
        with Consumer(self.config()) as consumer:
            consumer.subscribe(self.topics, listener=self)
            while not self._stopping.is_set():
                self._take_next(consumer)

    def _take_next(self, consumer: Consumer) -> None:
        self.read += [record.value for record in consumer.poll(int(POLL_S * 1000))]

    def on_assigned(self, places: Sequence[TopicPartition], /) -> None:
        self.told.append(("assigned", tuple(places)))
        self.rebalances += 1
        self._assigned |= set(places)

    def on_revoked(self, places: Sequence[TopicPartition], /) -> None:
        self.told.append(("revoked", tuple(places)))
        self._assigned -= set(places)

    def on_lost(self, places: Sequence[TopicPartition], /) -> None:
        self.told.append(("lost", tuple(places)))
        self._assigned -= set(places)


class OurCooperativeMember(OurMember):
    strategy = ("cooperative-sticky",)


class JavaMember(GroupMember):
    """Kafka's own consumer, in a process; it prints what it is assigned, and what it reads."""

    strategy = "range"

    def __init__(
        self, programs: KafkaPrograms, servers: str, group: str, topics: Iterable[str]
    ) -> None:
        named = list(topics)
        self._process = subprocess.Popen(
            programs.command("Member", servers, group, self.strategy, *named),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        super().__init__(servers, group, named)

    def _consume(self) -> None:
        with self._process as process:
            assert process.stdout is not None
            for line in process.stdout:
                self._hear(*line.split())

    def stop(self) -> None:
        """The end of its input ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        super().stop()

    def _hear(self, verb: str, *said: str) -> None:
        if verb == "read":
            self.read.append(said[0].encode())
        else:
            self._take_all(said)

    def _take_all(self, places: Iterable[str]) -> None:
        self.rebalances += 1
        named = (place.rsplit("-", 1) for place in places)
        self._assigned = {(topic, int(partition)) for topic, partition in named}


class CooperativeJavaMember(JavaMember):
    strategy = "cooperative-sticky"
