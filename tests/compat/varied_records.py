"""Topics of every shape, and records of every shape in them, written through librdkafka."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.adapters.base import CODECS
from tests.compat.adapters.librdkafka import LONG_MS, TOLD_OF_ENDS, transactional_producer
from tests.compat.new_topics import create
from tests.waiting import PATIENCE_S, wait_for

COMPACTED, TRANSACTIONAL = "compacted", "transactional"
# Kafka's default, transaction.max.timeout.ms: no coordinator ends what is to stay open.
TRANSACTION_MAX_TIMEOUT_MS = 900_000
OLD_CODECS = ("none", "gzip", "snappy", "lz4")
RECORDS = 1_200
COMPACTED_KEYS = 30
SMALL_SEGMENTS = {"segment.bytes": "20000", "index.interval.bytes": "1000"}

# Offset, key, value, headers, timestamp with its type: all that a consumer is given.
Read = tuple[int | None, bytes | None, bytes | None, Any, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class VariedRecords:
    """``servers`` is where a single broker listens."""

    servers: str

    def write_topics(self) -> list[str]:
        """One for each codec, with several segments, and one with the broker's times."""
        for codec in CODECS:
            self._create(codec, SMALL_SEGMENTS)
            self._write_varied(codec)
        self._create("appended", {"message.timestamp.type": "LogAppendTime"})
        self._produce("appended", ({"value": b"%d" % index} for index in range(50)))
        return [*CODECS, "appended"]

    def write_plain_topics(self) -> list[str]:
        """As write_topics, of what message sets can hold: no headers, no producers, no zstd."""
        for codec in OLD_CODECS:
            self._create(codec, SMALL_SEGMENTS)
            records = (
                {"key": b"k%d" % index if index % 3 else None, "value": b"v%d" % index}
                for index in range(RECORDS)
            )
            self._produce(codec, records, codec=codec)
        return list(OLD_CODECS)

    def write_compacted(self) -> str:
        self._create(
            COMPACTED,
            SMALL_SEGMENTS | {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"},
        )
        keys = (b"k%d" % (index % COMPACTED_KEYS) for index in range(RECORDS))
        values = (None if index % 7 == 3 else b"%d" % index for index in range(RECORDS))
        pairs = zip(keys, values, strict=True)
        self._produce(COMPACTED, ({"key": key, "value": value} for key, value in pairs))
        return COMPACTED

    def write_transactions(self) -> list[str]:
        """Committed, aborted, interleaved, and one that stays open."""
        self._create(TRANSACTIONAL, SMALL_SEGMENTS)
        self._create("wide", partitions=13)
        names = [f"id-{index}" for index in range(3)]
        producers = [self._transactional(name) for name in names]
        for turn in range(4):
            for producer in producers:
                producer.begin_transaction()
                self._write_in_transaction(producer)
            for index, producer in enumerate(producers):
                if (turn + index) % 3 == 1:
                    producer.abort_transaction(PATIENCE_S)
                else:
                    producer.commit_transaction(PATIENCE_S)
        for name in names:  # whose successors begin when the last markers are written
            self._transactional(name)
        open_one = self._transactional("stays-open", TRANSACTION_MAX_TIMEOUT_MS)
        open_one.begin_transaction()
        open_one.produce(TRANSACTIONAL, b"undecided")
        assert open_one.flush(PATIENCE_S) == 0
        return [TRANSACTIONAL, "wide"]

    def delete_before(self, topic: str, offset: int) -> None:
        admin = AdminClient({"bootstrap.servers": self.servers})
        (deleted,) = admin.delete_records([TopicPartition(topic, 0, offset)]).values()
        assert deleted.result(PATIENCE_S).low_watermark == offset

    def commit_offset(self, group: str, topic: str, offset: int) -> None:
        with closing(self._consumer(group)) as consumer:
            consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)

    def join(self, group: str, topic: str) -> None:
        """Be a member of a group for a moment, so that the group's state is stored."""
        with closing(self._consumer(group)) as consumer:
            consumer.subscribe([topic])
            assert consumer.consume(1, PATIENCE_S)

    def committed_offset(self, group: str, topic: str) -> int:
        with closing(self._consumer(group)) as consumer:
            (found,) = consumer.committed([TopicPartition(topic, 0)], PATIENCE_S)
            return int(found.offset)

    def read(self, topic: str, isolation: str = "read_uncommitted") -> list[Read]:
        """Partition 0 up to the end that a reader of that isolation is shown."""
        self._wait_for_leader(topic)
        # The end is told: an aborted transaction, or one that is open, may fill the last offsets.
        settings: dict[str, str | bool | int] = {**TOLD_OF_ENDS, "isolation.level": isolation}
        found: list[Read] = []
        with closing(self._consumer("reader", **settings)) as consumer:
            consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
            while (one := consumer.poll(PATIENCE_S)) is not None:
                error = one.error()
                if error is not None:
                    assert error.code() == KafkaError._PARTITION_EOF, error
                    return found
                found.append((one.offset(), one.key(), one.value(), one.headers(), one.timestamp()))
        raise AssertionError(f"no end of {topic} after {len(found)} records")

    def read_latest(self, topic: str) -> dict[bytes | None, Read]:
        """By key: what compaction leaves whenever it runs."""
        return {record[1]: record for record in self.read(topic)}

    def append(self, topic: str) -> None:
        """One more record, to see that the log goes on."""
        self._produce(topic, [{"key": b"after", "value": b"after"}])

    def _create(
        self, topic: str, config: dict[str, str] | None = None, partitions: int = 1
    ) -> None:
        # The records are of 2023, and are to stay.
        new = NewTopic(topic, partitions, 1, config={"retention.ms": "-1"} | (config or {}))
        create(self.servers, new)

    def _wait_for_leader(self, topic: str) -> None:
        """A broker of Kafka's is registered some time before it knows of topics."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        wait_for(
            f"leader of {topic}",
            lambda: admin.list_topics(timeout=PATIENCE_S).topics,
            lambda known: topic in known and known[topic].partitions[0].leader >= 0,
        )

    def _write_varied(self, codec: str) -> None:
        idempotent = codec in ("lz4", "none")
        self._produce(codec, _varied(codec), codec=codec, idempotent=idempotent)

    def _produce(
        self, topic: str, records: Any, codec: str = "none", *, idempotent: bool = False
    ) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self.servers,
                "compression.type": codec,
                "enable.idempotence": idempotent,
                "batch.num.messages": 50,
                "linger.ms": 5,
            }
        )
        for record in records:
            producer.produce(topic, **record)
        assert producer.flush(PATIENCE_S) == 0

    def _transactional(self, name: str, timeout_ms: int = LONG_MS) -> Producer:
        return transactional_producer(self.servers, name, {"transaction.timeout.ms": timeout_ms})

    def _write_in_transaction(self, producer: Producer) -> None:
        for index in range(60):
            producer.produce(TRANSACTIONAL, b"v" * 20, key=b"%d" % index)
            producer.produce("wide", b"v", partition=index % 13)
        assert producer.flush(PATIENCE_S) == 0

    def _consumer(self, group: str, **settings: str | bool | int) -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
            | settings
        )


def _varied(seed: str) -> Iterator[dict[str, Any]]:
    chance = random.Random(seed)
    for index in range(RECORDS):
        record: dict[str, Any] = {"value": chance.randbytes(chance.randrange(60))}
        if index % 3 == 0:
            record["key"] = b"k%d" % index
        if index % 5 == 0:
            record["headers"] = [("h", b"x"), ("empty", b""), ("null", None)]
        if index % 11 == 0:
            record["value"] = None
        record["timestamp"] = 1_700_000_000_000 + index + chance.randrange(1_000)
        yield record
