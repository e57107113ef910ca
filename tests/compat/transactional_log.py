"""One partition of many transactions: interleaved, aborted, over several segments, left open."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from tests.compat.adapters.librdkafka import transactional_producer
from tests.compat.new_topics import create
from tests.waiting import PATIENCE_S, wait_for

TOPIC = "transactional"
# Kafka allows segments this small, and rolls between the batches of a transaction.
CONFIG = {"segment.bytes": "1500", "index.interval.bytes": "300"}
TRY_S = 10


class TransactionalLog:
    """``servers`` is where a single broker listens."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._count = 0
        self._end_offset = 0

    def write(self, replicas: Sequence[int] = ()) -> None:
        """What the topic's one partition holds in the end is the same each time, but for times
        and producer ids. replicas: where it lies, its leader first.
        """
        where = {"replica_assignment": [list(replicas)]} if replicas else {"replication_factor": 1}
        create(self._servers, NewTopic(TOPIC, 1, config=CONFIG, **where))
        self._append(Producer({"bootstrap.servers": self._servers, "enable.idempotence": True}))
        long, first, second = (self._transactional(name) for name in ("long", "first", "second"))
        self._begin(long)
        for turn in range(6):
            self._begin(first)
            self._begin(second)
            self._end(first, commit=turn % 3 == 0)
            self._append(second)
            self._end(second, commit=turn % 2 == 0)
        self._end(long, commit=False)
        self._begin(first)
        self._end(first, commit=False)
        self._begin(second)
        self._append(first_again := self._transactional("first"), begin=True)
        self._end(first_again, commit=False)

    def _begin(self, producer: Producer) -> None:
        self._append(producer, begin=True)

    def _append(self, producer: Producer, *, begin: bool = False) -> None:
        """One batch of two records."""
        if begin:
            producer.begin_transaction()
        for _ in range(2):
            producer.produce(TOPIC, b"value %d" % self._count, key=b"key", partition=0)
            self._count += 1
            self._end_offset += 1
        assert producer.flush(PATIENCE_S) == 0

    def _end(self, producer: Producer, *, commit: bool) -> None:
        """Its marker, which follows the answer, is in the log: what comes next comes behind it."""
        end = producer.commit_transaction if commit else producer.abort_transaction
        end(PATIENCE_S)
        self._end_offset += 1
        wait_for(
            f"end at {self._end_offset}",
            lambda: self._ask_for_end("read_uncommitted"),
            self._end_offset.__eq__,
            unready=(KafkaException,),
        )

    def _transactional(self, name: str) -> Producer:
        return transactional_producer(self._servers, name, {"linger.ms": 50})

    def stable_end(self) -> int:
        """Where a reader of committed records ends; waits for the partition's leader."""
        return wait_for(
            "leader that tells its end",
            lambda: self._ask_for_end("read_committed"),
            _is_told,
            unready=(KafkaException,),
        )

    def _ask_for_end(self, isolation: str) -> int:
        """By a client of its own: one that heard of a leader which is gone goes on asking that."""
        settings = {"bootstrap.servers": self._servers, "group.id": "reader"}
        with closing(Consumer(settings | {"isolation.level": isolation})) as consumer:
            _, end = consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), TRY_S)
            return int(end)


def _is_told(end: int) -> bool:
    return end >= 0
