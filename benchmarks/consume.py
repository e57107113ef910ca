"""Throughput of Fetch: one librdkafka consumer reads a topic that was just written, from offset 0.

The topic is written once per target and read in every round. Messages are thrown away in C.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from benchmarks.figures import Figures
from benchmarks.librdkafka import Drain
from benchmarks.produce import GB, KIB, LARGE_BATCH, MB, PARTITIONS, Bound, Load, fill
from benchmarks.rounds import Case
from benchmarks.stopwatch import Stopwatch
from benchmarks.target import Target
from benchmarks.topics import message_count, scratch_topic

MESSAGE_BYTES = KIB

LOAD = Load(3, MESSAGE_BYTES, LARGE_BATCH)
_TIMEOUT_S = 60.0


@contextlib.contextmanager
def consume_case(
    targets: Sequence[Target], bound: Bound, load: Load = LOAD
) -> Iterator[Case[Target]]:
    """The topics to read, written by that load, are there for the length of the block."""
    with contextlib.ExitStack() as topics:
        filled: dict[str, str] = {}
        for target in targets:
            topic = topics.enter_context(scratch_topic(target.bootstrap, PARTITIONS, load.replicas))
            fill(target, topic, load, bound)
            filled[target.name] = topic
        yield Case(
            "consume, 1024 B",
            lambda target: run(target, filled[target.name]),
            lambda target: run(target, filled[target.name]),
        )


def run(target: Target, topic: str) -> Figures:
    """Read the whole topic once. Raises BenchmarkError when messages do not come."""
    messages = message_count(target.bootstrap, topic, PARTITIONS)
    with Stopwatch(target) as watch, Drain(topic, _settings(target), PARTITIONS) as drain:
        drain.take(messages, _TIMEOUT_S)
    size = messages * MESSAGE_BYTES
    figures = {
        "MB/s": size / MB / watch.seconds,
        "client s/GB": watch.client_cpu_s / size * GB,
    }
    if watch.brokers_cpu_s is not None:
        figures["brokers s/GB"] = watch.brokers_cpu_s / size * GB
    return figures


def _settings(target: Target) -> dict[str, object]:
    return {
        "bootstrap.servers": target.bootstrap,
        "queued.max.messages.kbytes": 256 * KIB,
        "fetch.queue.backoff.ms": 1,  # a whole second by default, once the queue was full
        **target.client,
    }
