"""Who takes records of one topic to another, each once, with each of two clients (KIP-447)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sized
from contextlib import suppress
from typing import Any, ClassVar, Generic, TypeVar

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaException,
    Message,
)

from logquake import client as ours
from logquake.chaos.workloads.clients import AWAKE, persist
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.records import ConsumerRecords
from logquake.client.errors import (
    NotAssignedError,
    ProducerFencedError,
    TimedOutError,
    TransactionFailedError,
)
from tests.compat.adapters.librdkafka import transactional_producer
from tests.waiting import PATIENCE_S

A_TRANSACTION = 10  # records, at most
SESSION_TIMEOUT_MS = 10_000

R = TypeVar("R", bound=Sized)


class Worker(ABC, Generic[R]):
    """Some records in each transaction. ``abortable`` may be raised by what is not a failure: a
    partition has moved, say; ``fenced`` once another worker has the transactional id.
    """

    abortable: ClassVar[type[Exception]]
    fenced: ClassVar[type[Exception]]

    def step(self) -> int:
        """One transaction; how many records it took. What its partitions' move ended is 0."""
        taken = self.take()
        if not taken:
            return 0
        try:
            self.write(taken)
            self.commit()
        except self.abortable as error:
            self.take_back(error)
            return 0
        return len(taken)

    @abstractmethod
    def take(self) -> R: ...

    @abstractmethod
    def write(self, taken: R) -> None:
        """All of a transaction but its end."""

    @abstractmethod
    def commit(self) -> None: ...

    @abstractmethod
    def take_back(self, error: Exception) -> None:
        """Raises the error where that is not possible."""

    @abstractmethod
    def leave(self) -> None:
        """The group, not its transaction."""

    @abstractmethod
    def close(self) -> None:
        """Whatever state it is in."""


class LibrdkafkaWorker(Worker[list[Message]]):
    abortable = fenced = KafkaException

    def __init__(self, servers: str, name: str, group: str, source: str, target: str) -> None:
        self._target = target
        self._producer = transactional_producer(servers, name, AWAKE)
        self._consumer = Consumer(
            {
                **AWAKE,
                "bootstrap.servers": servers,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "session.timeout.ms": SESSION_TIMEOUT_MS,
            }
        )
        self._consumer.subscribe([source])

    def take(self) -> list[Message]:
        messages = self._consumer.consume(A_TRANSACTION, 1)
        return [each for each in messages if each.error() is None]

    def write(self, taken: list[Message]) -> None:
        producer, consumer = self._producer, self._consumer
        producer.begin_transaction()
        for message in taken:
            value = message.value()
            assert value is not None
            producer.produce(self._target, value.upper(), partition=message.partition() or 0)
        positions = consumer.position(consumer.assignment())
        known = [each for each in positions if each.offset >= 0]
        member = consumer.consumer_group_metadata()
        persist(lambda: producer.send_offsets_to_transaction(known, member, PATIENCE_S))

    def commit(self) -> None:
        persist(lambda: self._producer.commit_transaction(PATIENCE_S))

    def leave(self) -> None:
        self._consumer.close()

    def close(self) -> None:
        self._producer.purge()

    def take_back(self, error: Exception) -> None:
        if not error.args[0].txn_requires_abort():
            raise error
        persist(lambda: self._producer.abort_transaction(PATIENCE_S))
        for place in self._consumer.committed(self._consumer.assignment(), PATIENCE_S):
            place.offset = place.offset if place.offset >= 0 else OFFSET_BEGINNING
            with suppress(KafkaException):  # it has moved meanwhile
                self._consumer.seek(place)


class OurWorker(Worker[ConsumerRecords]):
    abortable = TransactionFailedError
    fenced = ProducerFencedError

    def __init__(self, servers: str, name: str, group: str, source: str, target: str) -> None:
        self._target = target
        common: dict[str, Any] = {"bootstrap_servers": servers, "request_timeout_ms": 5_000}
        self._producer = ours.Producer(transactional_id=name, **common)
        _persist(self._producer.init_transactions)
        self._consumer = ours.Consumer(
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            session_timeout_ms=SESSION_TIMEOUT_MS,
            max_poll_records=A_TRANSACTION,
            **common,
        )
        self._consumer.subscribe([source])

    def take(self) -> ConsumerRecords:
        return self._consumer.poll(1_000)

    def write(self, taken: ConsumerRecords) -> None:
        self._producer.begin_transaction()
        for record in taken:
            self._producer.send(self._target, record.value.upper(), partition=record.partition)
        member = self._consumer.group_metadata()
        _persist(
            lambda: self._producer.send_offsets_to_transaction(taken.next_offsets, member),
        )

    def commit(self) -> None:
        _persist(self._producer.commit_transaction)

    def leave(self) -> None:
        self._consumer.close()

    def close(self) -> None:
        self._consumer.close(0)
        self._producer.close(0)

    def take_back(self, _error: Exception) -> None:
        _persist(self._producer.abort_transaction)
        committed = self._consumer.committed(self._consumer.assignment())
        for place, commit in committed.items():
            with suppress(NotAssignedError):  # it has moved meanwhile
                self._consumer.seek(place, commit or OffsetAndMetadata(0))


def _persist(action: Callable[[], None]) -> None:
    while True:
        with suppress(TimedOutError):
            action()
            return
