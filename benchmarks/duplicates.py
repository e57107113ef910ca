"""What a leader change doubles: requests that are in the log twice afterwards, by kind of producer.

A producer keeps requests of one message each in flight, with acks=all and three replicas. One
follower's process is stopped (SIGSTOP): what the leader appends and the other follower fetches is
not answered from then on. Then the leader is stopped too, until that other follower leads, and goes
on as a follower, which refuses what waited: the producer sends it again. This is the worst moment
for a leader to go.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from benchmarks import produce
from benchmarks.errors import BenchmarkError
from benchmarks.figures import Figures
from benchmarks.rounds import Case
from benchmarks.target import Target
from benchmarks.topics import message_count, placed_topic

LEADER_CHANGES = 3

_ERRORS_ONLY = 3
_FIRST_LEADER, _NOBODY = 1, -1
_UNANSWERED_S = 0.3  # all in flight gets into the log; shorter than any lag that costs the ISR
_FLOWING_S = 0.4
_PATIENCE_S = 60.0
_QUEUED = 200  # messages that wait for an ack, most of them in the client
_MESSAGE_BYTES = 1_000
_KINDS = (produce.Producer.LIBRDKAFKA, produce.Producer.FIVE_IN_FLIGHT, produce.Producer.IDEMPOTENT)


def duplicates_cases() -> list[Case[Target]]:
    """Do not apply to a target whose pids are not known."""
    return [_case(kind) for kind in _KINDS]


def _case(kind: produce.Producer) -> Case[Target]:
    return Case(
        f"leader change, {kind.title}",
        lambda target: run(target, kind) if target.broker_pids else None,
    )


def run(target: Target, kind: produce.Producer) -> Figures:
    """Raises BenchmarkError when a message is lost, or no other broker comes to lead."""
    doubled = [_doubled(target, kind) for _ in range(LEADER_CHANGES)]
    return {"requests doubled": sum(doubled) / len(doubled), "at most": max(doubled)}


def _doubled(target: Target, kind: produce.Producer) -> int:
    brokers = _Roles(*target.broker_pids)
    with placed_topic(target.bootstrap, (1, 2, 3), {"min.insync.replicas": "2"}) as topic:
        flow = _Flow(target.bootstrap, topic, kind)
        flow.run(_FLOWING_S)
        _change_leader(target, topic, brokers, flow)
        flow.finish()
        copies = _copies(target.bootstrap, topic)
    missing = flow.acked - copies.keys()
    if missing:
        raise BenchmarkError(f"{target.name}: {len(missing)} acked messages are lost")
    return sum(copies.values()) - len(copies)


@dataclass(slots=True)
class _Flow:
    """A producer that numbers its messages."""

    bootstrap: str
    topic: str
    kind: produce.Producer
    sent: int = 0
    acked: set[int] = field(default_factory=set)
    failed: int = 0
    _producer: Producer = field(init=False)

    def __post_init__(self) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": self.bootstrap,
                "acks": "all",
                "linger.ms": 0,
                "batch.num.messages": 1,
                "log_level": _ERRORS_ONLY,
                **self.kind.settings,
            }
        )

    def run(self, seconds: float) -> None:
        """Send for so long, once the cluster answers."""
        goal, deadline = len(self.acked) + 1, time.monotonic() + _PATIENCE_S
        while len(self.acked) < goal:
            if time.monotonic() > deadline:
                raise BenchmarkError(f"no ack for {_PATIENCE_S:g} s")
            self.step()
        self.step_for(seconds)

    def step_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()

    def step(self) -> None:
        """Keep the queue full, and take what acks there are."""
        while self.sent - len(self.acked) - self.failed < _QUEUED:
            value = b"%d" % self.sent
            self._producer.produce(
                self.topic, value.ljust(_MESSAGE_BYTES), partition=0, on_delivery=self._take
            )
            self.sent += 1
        self._producer.poll(0.001)

    def finish(self) -> None:
        if self._producer.flush(_PATIENCE_S):
            raise BenchmarkError(f"messages without an answer after {_PATIENCE_S:g} s")

    def _take(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.acked.add(int(message.value() or b""))
        else:
            self.failed += 1


class _Roles(NamedTuple):
    """Pids of the brokers 1, 2 and 3."""

    leader: int
    heir: int
    laggard: int


def _change_leader(target: Target, topic: str, brokers: _Roles, flow: _Flow) -> None:
    """The flow goes on meanwhile."""
    heir = target.bootstrap.split(",")[brokers.index(brokers.heir)]
    with _stopped(brokers.laggard):
        flow.step_for(_UNANSWERED_S)
        with _stopped(brokers.leader):
            deadline = time.monotonic() + _PATIENCE_S
            while _leader(heir, topic) in (_FIRST_LEADER, _NOBODY):
                if time.monotonic() > deadline:
                    raise BenchmarkError(f"{target.name}: no other broker leads")
                flow.step()
        flow.run(_FLOWING_S)  # the old leader is in the ISR: everything it refused was sent again


@contextlib.contextmanager
def _stopped(pid: int) -> Iterator[None]:
    """The process does nothing for the length of the block."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _leader(heir: str, topic: str) -> int:
    """_NOBODY while there is none.

    Each time asked of the heir, by a client that knows no other broker: one that does may ask a
    stopped one, and does so again until its socket's time-out of a minute.
    """
    admin = AdminClient({"bootstrap.servers": heir, "log_level": _ERRORS_ONLY})
    try:
        return admin.list_topics(topic, timeout=1).topics[topic].partitions[0].leader
    except KafkaException:
        return _NOBODY


def _copies(bootstrap: str, topic: str) -> Counter[int]:
    """Of each message, how often it is in the log."""
    left = message_count(bootstrap, topic, 1)
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "benchmark"})
    copies: Counter[int] = Counter()
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        deadline = time.monotonic() + _PATIENCE_S
        while left > 0:
            if time.monotonic() > deadline:
                raise BenchmarkError(f"{left} messages cannot be read")
            for message in consumer.consume(min(left, 10_000), timeout=0.5):
                if message.error() is None:
                    copies[int(message.value() or b"")] += 1
                    left -= 1
    finally:
        consumer.close()
    return copies
