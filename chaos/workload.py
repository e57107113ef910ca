"""A producer whose every send is written into a history: confluent-kafka, acks=all, idempotent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from time import monotonic

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from logquake.chaos.history.outcomes import History

# Errors after which the record is certainly in no log: it was never sent.
_NEVER_SENT = frozenset({KafkaError._PURGE_QUEUE, KafkaError.MSG_SIZE_TOO_LARGE})
# produce() does not even take the record. A broker of Kafka's that has just started calls every
# topic unknown; the client believes it until its next look.
_NOT_TAKEN = frozenset({KafkaError._UNKNOWN_TOPIC, KafkaError.MSG_SIZE_TOO_LARGE})
_FLUSH_STEP_S = 0.2

DEFAULTS: dict[str, str | int | bool] = {
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 20,
    "batch.size": 262_144,
    "queue.buffering.max.messages": 200_000,
    "delivery.timeout.ms": 60_000,
    "socket.nagle.disable": True,
    # A paused broker takes bytes and never answers: give it up before the delivery time-out does.
    "socket.timeout.ms": 4_000,
    "request.timeout.ms": 4_000,
    "retry.backoff.ms": 50,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
    # After a leader died the client learns of the new one at its next metadata refresh.
    "topic.metadata.refresh.fast.interval.ms": 50,
    # Lost connections are what this is for: outcomes tell, not the client's log.
    "log_level": 2,
}


class Workload:
    """Sends (key, value) pairs to one topic and keeps their outcomes, and the times of the acks."""

    def __init__(self, bootstrap_servers: str, topic: str, **overrides: str | int | bool) -> None:
        options = {key.replace("_", "."): value for key, value in overrides.items()}
        self._producer = Producer({**DEFAULTS, **options, "bootstrap.servers": bootstrap_servers})
        self._topic = topic
        self.history = History()
        self.ack_gaps: dict[int, float] = {}  # partition -> longest time between two acks
        self._last_ack: dict[int, float] = {}
        self._acks: Counter[int] = Counter()

    def run(
        self,
        pairs: Iterable[tuple[bytes, bytes]],
        *,
        each: Callable[[int], None] = lambda _number: None,
    ) -> None:
        """Send all pairs, waiting while the client's queue is full; ``each`` sees every number."""
        for key, value in pairs:
            number = self.history.sent()
            self._send(number, key, value)
            each(number)

    def _send(self, number: int, key: bytes, value: bytes) -> None:
        delivered = partial(self._delivered, number)
        while True:
            try:
                self._producer.produce(self._topic, value, key, on_delivery=delivered)
            except BufferError:
                self._producer.poll(_FLUSH_STEP_S)
            except KafkaException as raised:
                if raised.args[0].code() not in _NOT_TAKEN:
                    raise
                self.history.refuse(number)
                break
            else:
                break
        self._producer.poll(0)

    def finish(
        self, timeout_s: float, progress: Callable[[int], None] = lambda _acked: None
    ) -> int:
        """Wait for the outcomes that are still missing; how many never came."""
        deadline = monotonic() + timeout_s
        while (left := self._producer.flush(_FLUSH_STEP_S)) and monotonic() < deadline:
            progress(self.history.acked)
        return left

    def _delivered(self, number: int, error: KafkaError | None, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        if error is None and partition is not None and offset is not None:
            self.history.ack(number, partition, offset)
            self._note_ack(partition)
        elif error is None:
            self.history.lose_sight(number, "ack without a place")
        elif error.code() in _NEVER_SENT:
            self.history.refuse(number)
        else:
            self.history.lose_sight(number, error.name())

    def busiest_partition(self) -> int:
        """The partition with the most acks so far; 0 before the first."""
        return max(self._acks, key=self._acks.__getitem__, default=0)

    def _note_ack(self, partition: int) -> None:
        now = monotonic()
        gap = now - self._last_ack.get(partition, now)
        if gap > self.ack_gaps.get(partition, 0.0):
            self.ack_gaps[partition] = gap
        self._last_ack[partition] = now
        self._acks[partition] += 1
