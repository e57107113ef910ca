"""Throughput of Produce: batches of two sizes, one replica or three with acks=all.

One librdkafka producer fills the partitions in turn, up to a size or a time, whichever comes
first, so that a slow target costs no more than a fast one. What it sent is held against the log
end offsets: a message without an acknowledged place in the log fails the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.librdkafka import BatchProducer
from benchmarks.pages import recycle
from benchmarks.rounds import Case
from benchmarks.stopwatch import Stopwatch
from benchmarks.target import Target
from benchmarks.topics import message_count, scratch_topic

KIB, MB, GB = 1024, 10**6, 10**9
PARTITIONS = 6
SMALL_BATCH, LARGE_BATCH = 16 * KIB, MB

_LINGER_MS = 20  # time for a batch to fill; never waited for while the queue is full
_QUEUED_BATCHES = 64 * 6  # of one MB at most; what a slow target still has to take in the end
_MAX_QUEUE_KIB = 64 * 1024
_CALL_BYTES = 256 * KIB  # offered per call
_ANSWER_TIMEOUT_S = 60.0
_PAGES_MARGIN = 1.25  # indexes, the page cache of the journal, other processes
_WARM_UP_SHARE = 0.375


@dataclass(frozen=True, slots=True)
class Bound:
    """Where a run ends. ``max_bytes`` counts payload, before replication."""

    max_bytes: int
    max_seconds: float

    def share(self, part: float) -> Bound:
        return Bound(int(self.max_bytes * part), self.max_seconds * part)


class Producer(Enum):
    """The kinds of producer, by their settings. librdkafka is not idempotent by default, and keeps
    a million requests in flight; the Java client is, and keeps five.
    """

    LIBRDKAFKA = ("librdkafka's defaults", {"enable.idempotence": "false"})
    FIVE_IN_FLIGHT = ("5 in flight", {"enable.idempotence": "false", "max.in.flight": 5})
    IDEMPOTENT = ("idempotent", {"enable.idempotence": "true"})

    def __init__(self, title: str, settings: dict[str, object]) -> None:
        self.title = title
        self.settings = settings


@dataclass(frozen=True, slots=True)
class Load:
    """acks=all throughout: with one replica that is the leader's own."""

    replicas: int
    message_bytes: int
    batch_bytes: int
    producer: Producer = Producer.LIBRDKAFKA

    @property
    def name(self) -> str:
        batch = "1 MB" if self.batch_bytes == LARGE_BATCH else f"{self.batch_bytes // KIB} KiB"
        kind = self.producer.title
        return f"produce RF {self.replicas}, {self.message_bytes} B in {batch}, {kind}"

    def settings(self, bootstrap: str) -> dict[str, object]:
        return {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "linger.ms": _LINGER_MS,
            "batch.size": self.batch_bytes,
            "batch.num.messages": 1_000_000,
            "queue.buffering.max.messages": 2_000_000,
            "queue.buffering.max.kbytes": min(
                _QUEUED_BATCHES * self.batch_bytes // KIB, _MAX_QUEUE_KIB
            ),
            **self.producer.settings,
        }


FEW_LOADS = (Load(1, KIB, SMALL_BATCH), Load(3, KIB, SMALL_BATCH))
LOADS = (
    *(Load(rf, KIB, LARGE_BATCH) for rf in (1, 3)),
    *FEW_LOADS,
    *(Load(rf, 100, LARGE_BATCH) for rf in (1, 3)),
)

LINK_LOADS = (Load(3, KIB, LARGE_BATCH), Load(3, KIB, SMALL_BATCH))


def produce_cases(bound: Bound, loads: Iterable[Load] = LOADS) -> list[Case[Target]]:
    return [_case(load, bound) for load in loads]


def _case(load: Load, bound: Bound) -> Case[Target]:
    return Case(
        load.name,
        lambda target: run(target, load, bound),
        lambda target: run(target, load, bound.share(_WARM_UP_SHARE)),
    )


def run(target: Target, load: Load, bound: Bound) -> Figures:
    """One run on a new topic. Raises BenchmarkError when a message is missing."""
    with scratch_topic(target.bootstrap, PARTITIONS, load.replicas) as topic:
        recycle(int(bound.max_bytes * load.replicas * _PAGES_MARGIN))
        return fill(target, topic, load, bound)


def fill(target: Target, topic: str, load: Load, bound: Bound) -> Figures:
    """Produce into an empty topic of PARTITIONS partitions."""
    with BatchProducer(
        topic,
        {**load.settings(target.bootstrap), **target.client},
        message_bytes=load.message_bytes,
        count=_CALL_BYTES // load.message_bytes,
    ) as producer:
        with Stopwatch(target) as watch:
            messages = _send_until(bound, producer, load.message_bytes, watch)
            producer.wait_until_sent(_ANSWER_TIMEOUT_S)
        requests = producer.sent().requests
    _check(target, topic, messages)
    return _figures(messages * load.message_bytes, requests, watch)


def _send_until(bound: Bound, producer: BatchProducer, message_bytes: int, watch: Stopwatch) -> int:
    """Messages that the producer took."""
    messages = calls = 0
    while messages * message_bytes < bound.max_bytes and watch.elapsed_s() < bound.max_seconds:
        messages += producer.send(calls % PARTITIONS)
        calls += 1
    return messages


def _check(target: Target, topic: str, messages: int) -> None:
    stored = message_count(target.bootstrap, topic, PARTITIONS)
    if stored < messages:
        raise BenchmarkError(f"{target.name}: sent {messages} messages, {stored} in the log")


def _figures(size: int, requests: int, watch: Stopwatch) -> Figures:
    figures = {
        "MB/s": size / MB / watch.seconds,
        "KiB/request": size / requests / KIB,
        "client s/GB": watch.client_cpu_s / size * GB,
    }
    if watch.brokers_cpu_s is not None:
        figures["brokers s/GB"] = watch.brokers_cpu_s / size * GB
        figures["brokers us/request"] = watch.brokers_cpu_s / requests * 1e6
    return figures
