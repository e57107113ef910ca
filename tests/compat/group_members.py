"""Consumers that subscribe: each library's, polling in a thread of its own until it is stopped."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import kafka
from aiokafka import AIOKafkaConsumer
from aiokafka.abc import ConsumerRebalanceListener as AioListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AioRange
from confluent_kafka import Consumer
from kafka.coordinator.assignors.range import RangePartitionAssignor

from tests.waiting import PATIENCE_S, wait_for

POLL_S = 0.1


class GroupMember(ABC):
    """``read`` are the values that it read; ``rebalances`` counts assignments that it was given.

    ``instance_id`` makes it a static member, which does not leave when it stops.
    """

    auto_commit = True

    def __init__(
        self,
        servers: str,
        group: str,
        topics: Iterable[str],
        *,
        instance_id: str | None = None,
        session_timeout_ms: int = 60_000,
    ) -> None:
        self.servers = servers
        self.group = group
        self.topics = list(topics)
        self.instance_id = instance_id
        self.session_timeout_ms = session_timeout_ms
        self.read: list[bytes] = []
        self._assigned: set[tuple[str, int]] = set()
        self.rebalances = 0
        self.failure: BaseException | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def assigned(self) -> set[tuple[str, int]]:
        """Partitions by topic; raises what the consumer failed on, so that nobody waits for it."""
        if self.failure is not None:
            raise self.failure
        return self._assigned

    def stop(self) -> None:
        """Commit and close; raises what the consumer failed on."""
        self._stopping.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "a consumer that does not end"
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        try:
            self._consume()
        except BaseException as error:  # noqa: BLE001  (told by stop())
            self.failure = error

    @abstractmethod
    def _consume(self) -> None: ...

    def _take(self, partitions: Iterable[Any]) -> None:
        self.rebalances += 1
        self._assigned = {(each.topic, each.partition) for each in partitions}


class LibrdkafkaMember(GroupMember):
    strategy = "range"

    def _consume(self) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": self.servers,
            "group.id": self.group,
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": self.strategy,
            "session.timeout.ms": self.session_timeout_ms,
            "heartbeat.interval.ms": 500,
            "topic.metadata.refresh.interval.ms": 1_000,
            "enable.auto.commit": self.auto_commit,
        }
        if self.instance_id is not None:
            settings["group.instance.id"] = self.instance_id
        with closing(Consumer(settings)) as consumer:
            consumer.subscribe(
                self.topics,
                on_assign=lambda _consumer, partitions: self._on_assign(partitions),
                on_revoke=lambda _consumer, partitions: self._on_revoke(partitions),
            )
            while not self._stopping.is_set():
                self._take_next(consumer)

    def _take_next(self, consumer: Consumer) -> None:
        message = consumer.poll(POLL_S)
        if message is not None and message.error() is None:
            self.read.append(message.value() or b"")

    def _on_assign(self, partitions: Iterable[Any]) -> None:
        self._take(partitions)

    def _on_revoke(self, _partitions: Iterable[Any]) -> None:
        self._assigned = set()


class CooperativeMember(LibrdkafkaMember):
    """Keeps what it has while the group rebalances."""

    strategy = "cooperative-sticky"

    def _on_assign(self, partitions: Iterable[Any]) -> None:
        held = self._assigned
        self._take(partitions)
        self._assigned |= held

    def _on_revoke(self, partitions: Iterable[Any]) -> None:
        self._assigned -= {(each.topic, each.partition) for each in partitions}


class KafkaPythonMember(GroupMember):
    """Knows its topics before it joins.

    A leader that learned of them after it had assigned nothing joins again, and kafka-python
    3.0.12 loses that second join if a poll ends amid it: the answer is never looked at, and the
    member stays without partitions, heartbeats and errors, against a real Kafka as well. (The Java
    client lost it too: KAFKA-9815.)
    """

    def _consume(self) -> None:
        consumer = kafka.KafkaConsumer(
            *self.topics,
            bootstrap_servers=self.servers,
            group_id=self.group,
            auto_offset_reset="earliest",
            partition_assignment_strategy=[RangePartitionAssignor],
            session_timeout_ms=self.session_timeout_ms,
            heartbeat_interval_ms=500,
            metadata_max_age_ms=1_000,
            group_instance_id=self.instance_id,
            enable_auto_commit=self.auto_commit,
        )
        known: set[Any] = set()
        with closing(consumer):
            wait_for("its topics", lambda: self._stopping.is_set() or self._are_known(consumer))
            while not self._stopping.is_set():
                self._take_next(consumer)
                if consumer.assignment() != known:
                    known = consumer.assignment()
                    self._take(known)

    def _take_next(self, consumer: kafka.KafkaConsumer) -> None:
        for records in consumer.poll(timeout_ms=int(POLL_S * 1000)).values():
            self.read += [record.value for record in records]

    def _are_known(self, consumer: kafka.KafkaConsumer) -> bool:
        return all(map(consumer.partitions_for_topic, self.topics))


class _Assigned(AioListener):  # type: ignore[misc]  # the library has no types
    def __init__(self, member: GroupMember) -> None:
        self._member = member

    def on_partitions_revoked(self, revoked: Any) -> None:
        """What is taken is told by the next assignment."""

    def on_partitions_assigned(self, assigned: Any) -> None:
        self._member._take(assigned)


class AioKafkaMember(GroupMember):
    def _consume(self) -> None:
        asyncio.run(self._consume_here())

    async def _consume_here(self) -> None:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.servers,
            group_id=self.group,
            auto_offset_reset="earliest",
            partition_assignment_strategy=[AioRange],
            session_timeout_ms=self.session_timeout_ms,
            heartbeat_interval_ms=500,
            metadata_max_age_ms=1_000,
            group_instance_id=self.instance_id,
        )
        consumer.subscribe(self.topics, listener=_Assigned(self))
        try:
            await consumer.start()
            while not self._stopping.is_set():
                polled = await consumer.getmany(timeout_ms=int(POLL_S * 1000))
                for records in polled.values():
                    self.read += [record.value for record in records]
        finally:
            await consumer.stop()


@contextmanager
def members(*made: GroupMember) -> Iterator[Sequence[GroupMember]]:
    """Stopped at the end, however it comes."""
    with ExitStack() as stack:
        for member in made:
            stack.callback(member.stop)
        yield made


_MORTAL = """
import sys
from confluent_kafka import Consumer
servers, group, topic, session = sys.argv[1:]
consumer = Consumer({
    "bootstrap.servers": servers, "group.id": group, "session.timeout.ms": int(session),
    "heartbeat.interval.ms": 500, "partition.assignment.strategy": "range",
})
consumer.subscribe([topic], on_assign=lambda _c, given: print(len(given), flush=True))
while True:
    consumer.poll(1)
"""


@contextmanager
def member_process(
    servers: str, group: str, topic: str, session_timeout_ms: int
) -> Iterator[subprocess.Popen[str]]:
    """A member that can be killed; it prints how many partitions it is assigned, each time."""
    arguments = [servers, group, topic, str(session_timeout_ms)]
    command = [sys.executable, "-c", _MORTAL, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
