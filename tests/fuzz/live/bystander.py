"""A client that behaves, beside the strangers: what it sends is acked, and its group reads it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import closing
from time import monotonic
from typing import Any
from uuid import uuid4

from confluent_kafka import (
    Consumer,
    KafkaError,
    Message,
    Producer,
    ThrottleEvent,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

TIMEOUT_S = 60.0
PAUSE_S = 0.05


class Bystander:
    """One producer and the one member of a group, on a thread, from start() to stop()."""

    def __init__(self, settings: Mapping[str, str], replicas: int) -> None:
        self._settings: dict[str, Any] = {**settings, "throttle_cb": self._on_throttle}
        self._topic = f"bystander-{uuid4()}"
        topic = NewTopic(self._topic, 1, replicas)
        admin = AdminClient(self._settings)
        admin.create_topics([topic])[self._topic].result(TIMEOUT_S)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._asked_s = 0.0
        self.complaints: list[str] = []
        self.acked = self.read = 0
        self.slowest_ack_s = 0.0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(TIMEOUT_S)
        if self._thread.is_alive():
            self.complaints.append("the bystander does not end")

    def _live(self) -> None:
        producer = Producer({**self._settings, "acks": "all"})
        consumer = self._member()
        with closing(consumer):
            while not self._stopping.wait(PAUSE_S):
                value = b"%d" % self.acked
                self._asked_s = monotonic()
                producer.produce(self._topic, value, on_delivery=self._on_delivery)
                if producer.flush(TIMEOUT_S):
                    self.complaints.append(f"no ack of {value!r}")
                self._read(consumer, value)

    def _member(self) -> Consumer:
        given: list[list[TopicPartition]] = []

        def on_assign(_consumer: Consumer, partitions: list[TopicPartition]) -> None:
            given.append(partitions)
            if len(given) > 1:
                self.complaints.append("its group was rebalanced")

        group = {"group.id": f"{self._topic}-reader", "auto.offset.reset": "earliest"}
        consumer = Consumer({**self._settings, **group, "enable.auto.commit": False})
        consumer.subscribe([self._topic], on_assign=on_assign)
        return consumer

    def _read(self, consumer: Consumer, value: bytes) -> None:
        deadline = monotonic() + TIMEOUT_S
        while monotonic() < deadline:
            message = consumer.poll(1.0)
            if message is None or message.error() is not None:
                continue
            self.read += 1
            if message.value() != value:
                self.complaints.append(f"read {message.value()!r} for {value!r}")
            consumer.commit(message=message, asynchronous=False)
            return
        self.complaints.append(f"{value!r} was not read")

    def _on_throttle(self, event: ThrottleEvent) -> None:
        if event.throttle_time > 0:
            self.complaints.append(f"{event.broker_name} told it to wait {event.throttle_time} s")

    def _on_delivery(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self.complaints.append(str(error))
        self.acked += 1
        self.slowest_ack_s = max(self.slowest_ack_s, monotonic() - self._asked_s)
