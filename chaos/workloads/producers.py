"""Producers without transactions: plain, idempotent, and of compacted topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from threading import Event
from zlib import crc32

from confluent_kafka import Producer

from logquake.chaos.history.numbers import numbers, to_headers, to_value
from logquake.chaos.workloads.clients import IDEMPOTENT, PLAIN, Settings
from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.pacing import Pace
from logquake.chaos.workloads.plan import Plan, WorkloadKind
from logquake.chaos.workloads.sending import (
    ANY_PARTITION,
    Record,
    RecordSender,
    Sender,
    SentRows,
)

_RETRIES = "message.send.max.retries"
FINISH_S = 90.0  # longer than the client's own time-out of a delivery


class SteadyProducer:
    """Sends until it is stopped, or has sent what it was to; by default over librdkafka."""

    def __init__(self, life: Life, begin: Callable[[Life], RecordSender] | None = None) -> None:
        self._plan = life.plan
        self._life = life
        self._random = life.random
        self._begin = begin or librdkafkas_sender
        self._sender = self._begin(life)

    def run(self, stopping: Event) -> None:
        plan = self._plan
        partitions = self._sender.partitions()
        pace = Pace(plan.rate, self._wait)
        for record in records(plan, self._random, partitions):
            if not (pace.comes_before(stopping) and self._send(record)):
                break
        self._sender.finish(FINISH_S)

    def _wait(self, wait_s: float) -> None:
        """While answers come in; the producer may be another one by then."""
        self._sender.serve(wait_s)

    def _send(self, record: Record) -> bool:
        """False if the producer is done for, and no other is to take over."""
        try:
            self._sender.send(record)
        except self._sender.failures:
            self._sender.finish(FINISH_S)
            self._sender = self._begin(self._life)
            return self._plan.take_over
        return True


def librdkafkas_sender(life: Life) -> Sender:
    settings = life.settings(_settings(life.plan))
    log = SentRows(life.history, life.plan.topic)
    tries_again = str(settings.get(_RETRIES)) != "0"
    return Sender(Producer(settings), life.plan.topic, log, tries_again=tries_again)


def _settings(plan: Plan) -> Settings:
    if plan.kind is WorkloadKind.PLAIN:
        return {**PLAIN, "acks": plan.acks}
    return IDEMPOTENT


def records(plan: Plan, random: Random, partitions: range) -> Iterator[Record]:
    """A key stays in one partition, so that its order can be judged."""
    for sent, number in enumerate(numbers(plan.ordinal)):
        if plan.count and sent >= plan.count:
            return
        key = b"key-%d" % random.randrange(plan.keys)
        place = home_of(key, partitions) if plan.partition == ANY_PARTITION else plan.partition
        deletes = plan.kind is WorkloadKind.COMPACTED and random.random() < plan.tombstones
        if deletes:
            yield Record(number, key, None, place, to_headers(number))
        else:
            yield Record(number, key, to_value(number, plan.size), place)


def home_of(key: bytes, partitions: range) -> int:
    return partitions[crc32(key) % len(partitions)]
