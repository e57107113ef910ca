"""Members of groups: one that commits what it took, one that moves it on in transactions."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from threading import Event
from time import monotonic, sleep
from typing import Any, Protocol, TypeVar

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from logquake.chaos.history.numbers import numbers, to_value
from logquake.chaos.history.rows import Kind
from logquake.chaos.workloads.clients import MEMBER, persist
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.reading import Taker, name_of
from logquake.chaos.workloads.sending import Record
from logquake.chaos.workloads.transactions import TIMEOUT_S, Transactions

A_BATCH = 500  # records, at most: what a commit takes longest is its answer
_LOOK_S = 0.2
# librdkafka's own form of what consumer_group_metadata() gives, which it writes for any language
# to hand on: a mark, the generation, then the ids.
_GENERATION = struct.Struct("=7xi")
_REFUSED = frozenset(
    {
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError.REBALANCE_IN_PROGRESS,
    }
)


class Membership:
    """A consumer that shares a topic with the others of its group, and what it takes."""

    def __init__(
        self,
        life: Life,
        batch: int = A_BATCH,
        number: Callable[[Message], int] | None = None,
    ) -> None:
        plan = life.plan
        self._commits = CommitRows(life)
        settings = life.settings(MEMBER)
        settings |= {
            "group.id": plan.group,
            "isolation.level": plan.isolation,
            "partition.assignment.strategy": plan.strategy,
        }
        if plan.instance_id:
            settings["group.instance.id"] = plan.instance_id
        self.consumer = Consumer(settings)
        self.taker = Taker(life, self.consumer, plan.group, batch, number)
        self.consumer.subscribe(
            [plan.topic],
            on_assign=lambda _, assigned: self.taker.begin(assigned, self.generation),
            on_revoke=lambda _, revoked: self._revoke(revoked, "revoked"),
            on_lost=lambda _, lost: self._revoke(lost, "lost"),
        )

    def take(self) -> Sequence[Message]:
        return self.taker.take()

    def commit_after(self, taken: Sequence[Message]) -> None:
        self.commit(after(taken))

    def close(self) -> None:
        self.consumer.close()

    @property
    def generation(self) -> int:
        """-1 before it has joined."""
        (generation,) = _GENERATION.unpack_from(self.consumer.consumer_group_metadata())
        return int(generation)

    def commit(self, places: list[TopicPartition]) -> None:
        """And wait for the answer."""
        asked = self._commits.asked(places, self.generation)
        try:
            answered = self.consumer.commit(offsets=places, asynchronous=False)
        except KafkaException as error:
            for each in places:
                self._commits.answered(each, asked, error.args[0])
        else:
            for each in answered or ():
                self._commits.answered(each, asked, each.error)

    def begin_again(self) -> None:
        """The next record of each partition is the first one that the group has not committed."""
        assigned = self.consumer.assignment()
        for place in self._committed(assigned):
            self.taker.begin([place], self.generation)
            place.offset = place.offset if place.offset >= 0 else OFFSET_BEGINNING
            with suppress(KafkaException):  # it has moved meanwhile
                self.consumer.seek(place)

    def _committed(self, assigned: list[TopicPartition]) -> list[TopicPartition]:
        """Once the coordinator is found again: librdkafka may have asked the last one, and is told
        so at once. Raises KafkaException if it is not found.
        """
        until = monotonic() + TIMEOUT_S
        while True:
            try:
                return list(self.consumer.committed(assigned, TIMEOUT_S))
            except KafkaException:
                if monotonic() > until:
                    raise
            sleep(_LOOK_S)

    def _revoke(self, revoked: list[TopicPartition], how: str) -> None:
        self.taker.give_up(each.partition for each in revoked)
        self.taker.tell_revoked(revoked, how, self.generation)


class CommitRows:
    """What a member asks to be kept, and what it is told."""

    def __init__(self, life: Life) -> None:
        self._history = life.history
        self._group = life.plan.group

    def asked(
        self, places: Sequence[TopicPartition], generation: int, transaction: int | None = None
    ) -> dict[str, int]:
        """The sequence of each one's row, by the partition's name."""
        return {
            name_of(each): self._history.record(
                Kind.COMMIT_ASKED,
                name_of(each),
                group=self._group,
                offset=each.offset,
                epoch=generation,
                caused_by=transaction,
            )
            for each in places
        }

    def answered(
        self, place: TopicPartition, asked: dict[str, int], error: KafkaError | None
    ) -> None:
        self._history.record(
            Kind.COMMIT_ANSWERED,
            name_of(place),
            group=self._group,
            offset=place.offset,
            after=_result(error),
            why=error.name() if error else None,
            caused_by=asked[name_of(place)],
        )


def _result(error: KafkaError | None) -> str:
    if error is None:
        return "kept"
    return "refused" if error.code() in _REFUSED else "unknown"


def after(messages: Sequence[Message]) -> list[TopicPartition]:
    """The offsets to go on from."""
    ends = {(each.topic() or "", each.partition() or 0): each.offset() or 0 for each in messages}
    return [TopicPartition(*place, offset + 1) for place, offset in ends.items()]


T = TypeVar("T")


class Joined(Protocol[T]):
    """A consumer in its group."""

    def take(self) -> Sequence[T]:
        """Some records of partitions that are its own."""

    def commit_after(self, taken: Sequence[T]) -> None:
        """And wait for the answer, which is told."""

    def close(self) -> None: ...


class CommittingMember:
    """Works on each batch, commits, and waits for the answer; leaves and joins again now and then.

    Who works for longer than max.poll.interval.ms is no member any more when it commits.
    """

    def __init__(self, life: Life, join: Callable[[Life], Joined[Any]] = Membership) -> None:
        self._life = life
        self._join = join

    def run(self, stopping: Event) -> None:
        while not stopping.is_set():
            self._stay(stopping)

    def _stay(self, stopping: Event) -> None:
        """No member leaves with empty hands: where joining takes long, none would ever commit."""
        leaves_s, has_taken = self._leaves_s(), False
        with closing(self._join(self._life)) as member:
            while not stopping.is_set() and not (has_taken and monotonic() >= leaves_s):
                taken = member.take()
                if taken:
                    has_taken = True
                    stopping.wait(self._life.plan.works_s)
                    member.commit_after(taken)

    def _leaves_s(self) -> float:
        about_s = self._life.plan.leave_every_s
        return monotonic() + about_s * self._life.random.uniform(0.5, 1.5) if about_s else math.inf


class Mover:
    """Takes what the topic has to another one, with its offsets, in transactions (KIP-447)."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._plan = life.plan
        self._commits = CommitRows(life)
        self._numbers = numbers(life.plan.ordinal)

    def run(self, stopping: Event) -> None:
        transactions = Transactions(self._life, self._plan.target)
        targets = transactions.sender.partitions()
        membership = Membership(self._life)
        with closing(membership.consumer):
            while not stopping.is_set():
                messages = membership.taker.take()
                if messages:
                    self._move(transactions, membership, messages, targets)

    def _move(
        self,
        transactions: Transactions,
        membership: Membership,
        messages: list[Message],
        targets: range,
    ) -> None:
        try:
            self._carry_out(transactions, membership, messages, targets)
        except KafkaException as error:
            transactions.end_after(error)
            membership.begin_again()

    def _carry_out(
        self,
        transactions: Transactions,
        membership: Membership,
        messages: list[Message],
        targets: range,
    ) -> None:
        begun = transactions.begin()
        for message in messages:
            transactions.sender.send(self._moved(message, targets, begun))
        places = after(messages)
        self._commits.asked(places, membership.generation, begun)
        member = membership.consumer.consumer_group_metadata()
        producer = transactions.sender.producer
        persist(lambda: producer.send_offsets_to_transaction(places, member, TIMEOUT_S))
        transactions.commit()

    def _moved(self, message: Message, targets: range, begun: int) -> Record:
        """Into the partition of the same number, so that the order is the same there."""
        partition, number = message.partition() or 0, next(self._numbers)
        return Record(
            number,
            message.key() or b"",
            to_value(number, self._plan.size),
            targets[partition % len(targets)],
            transaction=begun,
            origin=(f"{message.topic()}-{partition}", message.offset() or 0),
        )
