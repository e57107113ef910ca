"""A consumer that tells what it was assigned and what it handed on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from threading import Event
from typing import cast

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, TopicPartition

from logquake.chaos.history.numbers import Headers, number_of
from logquake.chaos.history.rows import Kind
from logquake.chaos.workloads.clients import READER, partitions_of
from logquake.chaos.workloads.life import Life

_MOST_AT_ONCE = 1_000
_POLL_S = 0.3
_NO_EPOCH = -1


class Taker:
    """Hands on batches of records of what it is assigned; ``number`` is asked of each once."""

    def __init__(
        self,
        life: Life,
        consumer: Consumer,
        group: str | None,
        batch: int,
        number: Callable[[Message], int] | None = None,
    ) -> None:
        self._history = life.history
        self._size = batch
        self._number = number or number_in_value
        self._batch: list[Message] = []
        # By partition, the end that it has come to; known where enable.partition.eof is set.
        self.ends: dict[int, int] = {}
        self.group = group
        self.consumer = consumer

    def take(self) -> list[Message]:
        """Some records of partitions that are the reader's at the end of the call."""
        self._batch = []
        wait_s = _POLL_S
        while len(self._batch) < self._size:
            message = self.consumer.poll(wait_s)
            if message is None:
                break
            self._take(message)
            wait_s = 0.0
        for run in runs(self._batch):
            self._tell_run(run)
        return self._batch

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is None:
            self._batch.append(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            self.ends[message.partition() or 0] = message.offset() or 0

    def give_up(self, partitions: Iterable[int]) -> None:
        """What is not handed on yet is the next owner's to take."""
        gone = set(partitions)
        self._batch = [each for each in self._batch if each.partition() not in gone]

    def begin(self, assigned: Iterable[TopicPartition], generation: int | None = None) -> None:
        """Tell that reading begins, at an offset where that is known."""
        for each in assigned:
            offset = each.offset if each.offset >= 0 else None
            self._tell(Kind.ASSIGNED, name_of(each), epoch=generation, offset=offset)

    def tell_revoked(self, revoked: Iterable[TopicPartition], how: str, generation: int) -> None:
        for each in revoked:
            self._tell(Kind.REVOKED, name_of(each), epoch=generation, after=how)

    def _tell_run(self, run: Sequence[Message]) -> None:
        first = run[0]
        values = [self._number(each) for each in run]
        place = f"{first.topic()}-{first.partition()}"
        offset, epoch = first.offset(), _leader_epoch(first)
        self._tell(Kind.POLLED, place, epoch=epoch, offset=offset, values=values)

    def _tell(self, what: Kind, subject: str, **fields: object) -> int:
        return self._history.record(what, subject, group=self.group, **fields)


def runs(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """By partition, in order: offsets that follow each other, of one leader epoch."""
    open_runs: dict[tuple[str | None, int | None], list[Message]] = {}
    for message in messages:
        place = message.topic(), message.partition()
        run = open_runs.get(place)
        if run is not None and _follows(message, run[-1]):
            run.append(message)
            continue
        if run is not None:
            yield run
        open_runs[place] = [message]
    yield from open_runs.values()


def _follows(message: Message, before: Message) -> bool:
    offset = before.offset()
    return (
        offset is not None
        and message.offset() == offset + 1
        and _leader_epoch(message) == _leader_epoch(before)
    )


def number_in_value(message: Message) -> int:
    """Of a tombstone in its headers, which librdkafka makes anew of every record: they are looked
    at where there is need.
    """
    value = message.value()
    return number_of(value) if value is not None else number_in_headers(message)


def number_in_headers(message: Message) -> int:
    return number_of(None, cast(Headers, message.headers()))


def _leader_epoch(message: Message) -> int:
    epoch = message.leader_epoch()
    return _NO_EPOCH if epoch is None else int(epoch)


def name_of(place: TopicPartition) -> str:
    return f"{place.topic}-{place.partition}"


class WholeTopicReader:
    """Reads all partitions from their beginnings, in no group, for as long as it may."""

    def __init__(self, life: Life) -> None:
        self._plan = life.plan
        settings = life.settings(READER)
        # librdkafka wants a group's name of every consumer, and does not use it.
        settings |= {"group.id": life.process, "isolation.level": life.plan.isolation}
        self._taker = Taker(life, Consumer(settings), None, _MOST_AT_ONCE)

    def run(self, stopping: Event) -> None:
        topic, consumer = self._plan.topic, self._taker.consumer
        with closing(consumer):
            partitions = partitions_of(consumer, topic)
            assigned = [TopicPartition(topic, each, OFFSET_BEGINNING) for each in partitions]
            self._taker.begin(assigned)
            consumer.assign(assigned)
            while not stopping.is_set():
                self._taker.take()
