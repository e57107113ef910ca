"""Our consumer, and telling what it was assigned and what it handed on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from threading import Event
from typing import cast

from logquake.chaos.history.numbers import Headers, number_of
from logquake.chaos.history.rows import Kind
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.own.settings import READER, own_settings
from logquake.client import Consumer
from logquake.client.consumer.records import ConsumerRecord, ConsumerRecords
from logquake.wire.topic_partition import TopicPartition

_POLL_MS = 300


class ReadRows:
    """What a consumer does, as rows; ``group`` is None of one without."""

    def __init__(self, life: Life, group: str | None) -> None:
        self._history = life.history
        self._group = group

    def assigned(self, places: Iterable[TopicPartition], generation: int | None = None) -> None:
        for place in places:
            self._tell(Kind.ASSIGNED, place, epoch=generation)

    def revoked(self, places: Iterable[TopicPartition], how: str, generation: int) -> None:
        for place in places:
            self._tell(Kind.REVOKED, place, epoch=generation, after=how)

    def polled(self, records: ConsumerRecords) -> None:
        for place in records.partitions:
            for run in runs(records.records(place)):
                values = [number_in(each) for each in run]
                first = run[0]
                self._tell(
                    Kind.POLLED,
                    place,
                    epoch=first.leader_epoch,
                    offset=first.offset,
                    values=values,
                )

    def _tell(self, what: Kind, place: TopicPartition, **fields: object) -> None:
        self._history.record(what, str(place), group=self._group, **fields)


def runs(records: Sequence[ConsumerRecord]) -> Iterator[Sequence[ConsumerRecord]]:
    """Of one partition: offsets that follow each other, of one leader epoch."""
    begun = 0
    for index in range(1, len(records)):
        before, record = records[index - 1], records[index]
        if (record.offset, record.leader_epoch) != (before.offset + 1, before.leader_epoch):
            yield records[begun:index]
            begun = index
    if records:
        yield records[begun:]


def number_in(record: ConsumerRecord) -> int:
    """Of a tombstone in its headers."""
    headers = None if record.value is not None else cast(Headers, list(record.headers))
    return number_of(record.value, headers)


class OwnReader:
    """Reads all partitions from their beginnings, in no group, for as long as it may."""

    def __init__(self, life: Life) -> None:
        self._topic = life.plan.topic
        isolation = {"isolation.level": life.plan.isolation}
        self._consumer = Consumer({**own_settings(life, READER), **isolation})
        self._rows = ReadRows(life, None)

    def run(self, stopping: Event) -> None:
        with closing(self._consumer) as consumer:
            places: list[TopicPartition] = []
            while not places and not stopping.is_set():
                places = self._places()
            if places:
                self._rows.assigned(places)
                consumer.assign(places)
            while not stopping.is_set():
                self._take()

    def _places(self) -> list[TopicPartition]:
        found = self._consumer.partitions_for(self._topic)
        return [TopicPartition(each.topic, each.partition) for each in found]

    def _take(self) -> None:
        self._rows.polled(self._consumer.poll(_POLL_MS))
