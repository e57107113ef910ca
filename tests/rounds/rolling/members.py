"""Members of groups that write into a diary what they were assigned, took and committed."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, TopicPartition

from logquake.chaos.group_commits import Assigned, Commit, Diary, Place, Taken
from tests.rounds.rolling.transactors import SETTINGS, TIMEOUT_S, TransactionalProducer, persist

A_BATCH = 50  # records, at most
POLL_S = 0.3
LOOKS = 5


@dataclass(frozen=True, slots=True)
class Membership:
    """``instance_id`` makes the member a static one."""

    group: str
    topic: str
    strategy: str = "range"
    instance_id: str | None = None

    def consumer(self, servers: str) -> Consumer:
        settings: dict[str, Any] = {
            **{key: value for key, value in SETTINGS.items() if "transaction" not in key},
            "bootstrap.servers": servers,
            "group.id": self.group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "session.timeout.ms": 45_000,
            # A commit that librdkafka tries again before it has connected to the new coordinator
            # fails with that connection, and makes it give up the coordinator, again and again.
            "retry.backoff.ms": 1_000,
            "heartbeat.interval.ms": 1_000,
            "partition.assignment.strategy": self.strategy,
        }
        if self.instance_id is not None:
            settings["group.instance.id"] = self.instance_id
        return Consumer(settings)

    def place(self, partition: int) -> Place:
        return Place(self.group, self.topic, partition)


class Reader:
    """A consumer and its diary."""

    def __init__(self, servers: str, membership: Membership, diary: Diary) -> None:
        self.membership = membership
        self.diary = diary
        self._batch: list[Message] = []
        self.consumer = membership.consumer(servers)
        self.consumer.subscribe(
            [membership.topic],
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_revoke,
        )

    def take(self) -> list[Message]:
        """Some records of partitions that are the member's at the end of the call."""
        self._batch = []
        wait_s = POLL_S
        while len(self._batch) < A_BATCH:
            message = self.consumer.poll(wait_s)
            if message is None:
                break
            if message.error() is None:
                place = self.membership.place(message.partition() or 0)
                self.diary.steps.append(Taken(place, message.offset() or 0))
                self._batch.append(message)
            wait_s = 0.0
        return self._batch

    def committed(self, offsets: Iterable[TopicPartition], asked_s: float, *, known: bool) -> None:
        """Write down what was asked for, and whether it is known to be kept."""
        answered_s = monotonic() if known else None
        for each in offsets:
            place = self.membership.place(each.partition)
            self.diary.steps.append(Commit(place, each.offset, asked_s, answered_s))

    def _on_assign(self, _consumer: Consumer, assigned: list[TopicPartition]) -> None:
        self.begin_again(assigned)

    def _on_revoke(self, _consumer: Consumer, revoked: list[TopicPartition]) -> None:
        """What is not committed yet is the next owner's to take."""
        gone = {each.partition for each in revoked}
        self._batch = [each for each in self._batch if each.partition() not in gone]

    def begin_again(self, assigned: Iterable[TopicPartition]) -> None:
        """The next record of each is the first one after what the group has committed."""
        now_s = monotonic()
        for each in assigned:
            self.diary.steps.append(Assigned(self.membership.place(each.partition), now_s))


def after(messages: Sequence[Message]) -> list[TopicPartition]:
    """The offsets to go on from."""
    ends = {(each.topic() or "", each.partition() or 0): each.offset() or 0 for each in messages}
    return [TopicPartition(*place, offset + 1) for place, offset in ends.items()]


class PlainMember:
    """Commits after each batch, and waits for the answer."""

    def __init__(self, servers: str, membership: Membership, diary: Diary) -> None:
        self._servers = servers
        self._membership = membership
        self._diary = diary

    def run(self, stopping: threading.Event) -> None:
        reader = Reader(self._servers, self._membership, self._diary)
        with closing(reader.consumer):
            while not stopping.is_set():
                messages = reader.take()
                if messages:
                    self._commit(reader, after(messages))

    @staticmethod
    def _commit(reader: Reader, offsets: list[TopicPartition]) -> None:
        asked_s = monotonic()
        try:
            answered = reader.consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException:
            reader.committed(offsets, asked_s, known=False)
        else:
            for each in answered or ():
                reader.committed([each], asked_s, known=each.error is None)


class Mover:
    """Takes what the topic has to another one, with its offsets, in transactions (KIP-447)."""

    def __init__(self, servers: str, membership: Membership, diary: Diary, target: str) -> None:
        self._servers = servers
        self._membership = membership
        self._diary = diary
        self._target = target

    def run(self, stopping: threading.Event) -> None:
        transactional = TransactionalProducer(self._servers, self._diary.member)
        reader = Reader(self._servers, self._membership, self._diary)
        with closing(reader.consumer):
            while not stopping.is_set():
                messages = reader.take()
                if messages:
                    self._move(transactional, reader, messages)

    def _move(
        self, transactional: TransactionalProducer, reader: Reader, messages: list[Message]
    ) -> None:
        offsets, asked_s = after(messages), monotonic()
        try:
            self._carry_out(transactional, reader, messages, offsets)
        except KafkaException as error:
            reader.committed(offsets, asked_s, known=False)
            transactional.end_after(error, None)
            self._take_back(reader)
        else:
            reader.committed(offsets, asked_s, known=True)

    def _carry_out(
        self,
        transactional: TransactionalProducer,
        reader: Reader,
        messages: list[Message],
        offsets: list[TopicPartition],
    ) -> None:
        producer = transactional.producer
        producer.begin_transaction()
        for message in messages:
            value, partition = message.value() or b"", message.partition() or 0
            producer.produce(self._target, value, partition=partition)
        member = reader.consumer.consumer_group_metadata()
        persist(lambda: producer.send_offsets_to_transaction(offsets, member, TIMEOUT_S))
        transactional.commit()

    @staticmethod
    def _take_back(reader: Reader) -> None:
        consumer = reader.consumer
        assigned = consumer.assignment()
        reader.begin_again(assigned)
        for place in _committed(consumer, assigned):
            place.offset = place.offset if place.offset >= 0 else OFFSET_BEGINNING
            with suppress(KafkaException):  # it has moved meanwhile
                consumer.seek(place)


def _committed(consumer: Consumer, assigned: list[TopicPartition]) -> list[TopicPartition]:
    """Once the coordinator is found again. Raises KafkaException if it is not."""
    for _ in range(LOOKS):
        with suppress(KafkaException):
            return list(consumer.committed(assigned, TIMEOUT_S))
    return list(consumer.committed(assigned, TIMEOUT_S))
