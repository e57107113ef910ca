"""One message in flight: produce, wait for the ack of all replicas, again."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import quantiles

from confluent_kafka import KafkaError, Message, Producer

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.stopwatch import Stopwatch
from benchmarks.target import Target
from benchmarks.topics import scratch_topic

PAYLOAD = bytes(100)
WARM_UP_MESSAGES = 200  # of each run: its topic and connection are new
_WARM_UP_SHARE = 0.25

_ANSWER_TIMEOUT_S = 30.0


@dataclass(slots=True)
class _Acks:
    """Takes the delivery reports of one message at a time."""

    came: int = 0
    errors: list[KafkaError] = field(default_factory=list)

    def take(self, error: KafkaError | None, _message: Message) -> None:
        self.came += 1
        if error is not None:
            self.errors.append(error)


def latency_cases(messages: int, max_seconds: float) -> list[Case[Target]]:
    return [_case(replicas, messages, max_seconds) for replicas in (1, 3)]


def _case(replicas: int, messages: int, max_seconds: float) -> Case[Target]:
    return Case(
        f"one in flight, RF {replicas}",
        lambda target: run(target, replicas, messages, max_seconds),
        lambda target: run(
            target, replicas, int(messages * _WARM_UP_SHARE), max_seconds * _WARM_UP_SHARE
        ),
    )


def run(target: Target, replicas: int, messages: int, max_seconds: float) -> Figures:
    """Raises BenchmarkError when an ack is an error, or does not come."""
    with scratch_topic(target.bootstrap, 1, replicas) as topic:
        producer = Producer(
            {
                "bootstrap.servers": target.bootstrap,
                "acks": "all",
                "linger.ms": 0,
                "socket.nagle.disable": True,
            }
        )
        _ping(producer, topic, WARM_UP_MESSAGES, max_seconds)
        with Stopwatch(target) as watch:
            waits_ms = _ping(producer, topic, messages, max_seconds)
    return _figures(waits_ms, watch)


def _ping(producer: Producer, topic: str, messages: int, max_seconds: float) -> list[float]:
    """Milliseconds from each produce() to its ack."""
    acks = _Acks()
    waits_ms: list[float] = []
    deadline = time.perf_counter() + max_seconds
    while len(waits_ms) < messages and time.perf_counter() < deadline:
        started = time.perf_counter()
        producer.produce(topic, PAYLOAD, partition=0, on_delivery=acks.take)
        while acks.came == len(waits_ms):
            if time.perf_counter() > started + _ANSWER_TIMEOUT_S:
                raise BenchmarkError(f"no ack after {_ANSWER_TIMEOUT_S:g} s")
            producer.poll(_ANSWER_TIMEOUT_S)
        waits_ms.append((time.perf_counter() - started) * 1e3)
    if acks.errors:
        raise BenchmarkError(f"{len(acks.errors)} messages failed: {acks.errors[0]}")
    return waits_ms


def _figures(waits_ms: list[float], watch: Stopwatch) -> Figures:
    percentiles = quantiles(waits_ms, n=100, method="inclusive")
    figures = {"p50 ms": percentiles[49], "p99 ms": percentiles[98]}
    if watch.brokers_cpu_s is not None:
        figures["brokers us/message"] = watch.brokers_cpu_s / len(waits_ms) * 1e6
    return figures
