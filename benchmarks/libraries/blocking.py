"""Clients whose calls block: what they send, and how one of them is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from benchmarks.libraries.load import BATCH_BYTES, BUFFER_BYTES, LINGER_MS, Library, Load

_POLL_EVERY = 100  # records: librdkafka calls back when it is polled
_LOOK_EVERY = 256  # records: at the clock


class Sender(Protocol):
    def send(self, value: bytes) -> None: ...

    def send_and_wait(self, value: bytes) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class Ours:
    def __init__(self, load: Load) -> None:
        from logquake.client import Producer

        self._producer = Producer(
            bootstrap_servers=load.bootstrap, linger_ms=0 if load.one_in_flight else LINGER_MS
        )
        self._topic = load.topic
        self._producer.partitions_for(load.topic)
        self.flush = self._producer.flush
        self.close = self._producer.close

    def send(self, value: bytes) -> None:
        self._producer.send(self._topic, value)

    def send_and_wait(self, value: bytes) -> None:
        self._producer.send(self._topic, value).result()


class KafkaPython:
    def __init__(self, load: Load) -> None:
        from kafka import KafkaProducer

        self._producer = KafkaProducer(
            bootstrap_servers=load.bootstrap,
            linger_ms=0 if load.one_in_flight else LINGER_MS,
            acks="all",
            enable_idempotence=True,
        )
        self._topic = load.topic
        self._producer.partitions_for(load.topic)
        self.flush = self._producer.flush
        self.close = self._producer.close

    def send(self, value: bytes) -> None:
        self._producer.send(self._topic, value)

    def send_and_wait(self, value: bytes) -> None:
        self._producer.send(self._topic, value).get()


class Confluent:
    """A callback a record, as programs have it that want to know what became of it."""

    def __init__(self, load: Load) -> None:
        from confluent_kafka import Producer

        self._producer = Producer(
            {
                "bootstrap.servers": load.bootstrap,
                "linger.ms": 0 if load.one_in_flight else LINGER_MS,
                "batch.size": BATCH_BYTES,
                "queue.buffering.max.kbytes": BUFFER_BYTES // 1024,
                "enable.idempotence": True,
            }
        )
        self._topic = load.topic
        self._sent = 0
        self._told = 0
        self._producer.list_topics(load.topic)

    def _on_delivery(self, error: object, _message: object) -> None:
        if error is not None:
            raise RuntimeError(f"not delivered: {error}")
        self._told += 1

    def send(self, value: bytes) -> None:
        self._sent += 1
        while True:
            try:
                self._producer.produce(self._topic, value, on_delivery=self._on_delivery)
                break
            except BufferError:
                self._producer.poll(0.01)
        if self._sent % _POLL_EVERY == 0:
            self._producer.poll(0)

    def send_and_wait(self, value: bytes) -> None:
        self.send(value)
        while self._told < self._sent:
            self._producer.poll(1)

    def flush(self) -> None:
        self._producer.flush()

    def close(self) -> None:
        self._producer.flush()


SENDERS: Mapping[Library, Callable[[Load], Sender]] = {
    Library.OURS: Ours,
    Library.KAFKA_PYTHON: KafkaPython,
    Library.CONFLUENT: Confluent,
}


def send_all(sender: Sender, load: Load) -> int:
    """How many records; all of them are acknowledged."""
    value = b"x" * load.record_bytes
    send = sender.send_and_wait if load.one_in_flight else sender.send
    deadline = time.perf_counter() + load.max_seconds
    sent = 0
    while sent < load.records and (sent % _LOOK_EVERY or time.perf_counter() < deadline):
        send(value)
        sent += 1
    sender.flush()
    return sent
