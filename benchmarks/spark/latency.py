"""How long a record takes from one topic through a stream of Spark into another."""

from __future__ import annotations

import time
from statistics import quantiles
from tempfile import TemporaryDirectory

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.spark.formats import Format
from benchmarks.topics import scratch_topic

_TRIGGER = "1 second"
_EVERY_S = 0.05
_TIMEOUT_S = 60.0
_FIRST = 40  # of them, while the stream gets warm


def latency_case(records: int) -> Case[Format]:
    return Case("a record by a 1 s trigger", lambda target: _run(target, records))


def _run(target: Format, records: int) -> Figures:
    with (
        scratch_topic(target.bootstrap, 1, 1) as topic,
        scratch_topic(target.bootstrap, 1, 1) as copies,
        TemporaryDirectory() as folder,
    ):
        frame = target.stream(topic).selectExpr("value")
        writer = target.to(frame.writeStream, copies).option("checkpointLocation", folder)
        query = writer.trigger(processingTime=_TRIGGER).start()
        try:
            delays_ms = _delays_ms(target.bootstrap, topic, copies, records)[_FIRST:]
        finally:
            query.stop()
    cuts = quantiles(delays_ms, n=100)
    return {"p50 ms": cuts[49], "p99 ms": cuts[98]}


def _delays_ms(bootstrap: str, topic: str, copies: str, records: int) -> list[float]:
    """Of each record, which says when it was sent."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "nobody",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(copies, 0, 0)])
    delays_ms: list[float] = []
    sent, deadline = 0, time.monotonic() + _TIMEOUT_S + records * _EVERY_S
    try:
        while len(delays_ms) < records + _FIRST:
            if time.monotonic() > deadline:
                raise BenchmarkError(f"{len(delays_ms)} of {sent} records came through in time")
            if sent < records + _FIRST:
                producer.produce(topic, b"%d" % time.perf_counter_ns())
                sent += 1
            until = time.perf_counter() + _EVERY_S
            while (left_s := until - time.perf_counter()) > 0:
                message = consumer.poll(left_s)
                if message is not None and message.error() is None:
                    sent_ns = int(message.value() or b"")
                    delays_ms.append((time.perf_counter_ns() - sent_ns) / 10**6)
            producer.poll(0)
    finally:
        consumer.close()
    return delays_ms
