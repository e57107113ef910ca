"""What came out of a stream, counted twice: by librdkafka's reader, and by a query of Spark's."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, IsolationLevel, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from tests.rounds.streaming.load import Size, number_in
from tests.waiting import PATIENCE_S, wait_for

_CHUNK = 10_000
_ASK_S = 10.0


class Seen(NamedTuple):
    """A row of the target, of one that is read in the order of its partition."""

    partition: int
    key: int
    number: int


@dataclass(frozen=True, slots=True)
class Counts:
    """``missing`` of those that were written. ``disordered`` are those that come for the first time
    behind a later one of their key; ``scattered`` are keys that are in several partitions.
    """

    rows: int
    distinct: int
    missing: int
    disordered: int
    scattered: int

    @property
    def doubled(self) -> int:
        return self.rows - self.distinct

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows: {self.missing:,} missing, {self.doubled:,} doubled, "
            f"{self.disordered:,} out of their key's order, {self.scattered} keys scattered"
        )


def count(seen: Iterable[Seen], size: Size) -> Counts:
    """In one pass, of any length: what is kept is a number a row that was written."""
    numbers: dict[int, set[int]] = defaultdict(set)
    highest: dict[int, int] = {}
    partitions: dict[int, set[int]] = defaultdict(set)
    rows = disordered = 0
    for partition, key, number in seen:
        rows += 1
        partitions[key].add(partition)
        if number not in numbers[key]:
            disordered += number < highest.get(key, -1)
            highest[key] = max(number, highest.get(key, -1))
            numbers[key].add(number)
    found = sum(map(len, numbers.values()))
    missing = sum(len(set(range(size.of_key(key))) - numbers[key]) for key in range(size.keys))
    scattered = sum(len(each) > 1 for each in partitions.values())
    return Counts(rows, found, missing, disordered, scattered)


def wait_until_decided(servers: str, topic: str, partitions: int) -> None:
    """Until no transaction is open in the topic: readers of committed records stop before it."""
    admin = AdminClient({"bootstrap.servers": servers})
    places = [TopicPartition(topic, each) for each in range(partitions)]

    def ends(level: IsolationLevel) -> list[int]:
        asked = {place: OffsetSpec.latest() for place in places}  # type: ignore[no-untyped-call]
        answers = admin.list_offsets(asked, isolation_level=level, request_timeout=_ASK_S)
        return [answers[place].result(_ASK_S).offset for place in places]

    wait_for(
        "transactions that have ended",
        lambda: (ends(IsolationLevel.READ_COMMITTED), ends(IsolationLevel.READ_UNCOMMITTED)),
        lambda both: both[0] == both[1],
        timeout_s=2 * PATIENCE_S,
    )


def read_by_librdkafka(servers: str, topic: str, partitions: int) -> Iterator[Seen]:
    """What is committed, each partition in its order. AssertionError if it takes too long."""
    settings = {
        "bootstrap.servers": servers,
        "group.id": "judge",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
    }
    with closing(Consumer(settings)) as consumer:
        places = [TopicPartition(topic, each, OFFSET_BEGINNING) for each in range(partitions)]
        consumer.assign(places)
        left = set(range(partitions))
        deadline = time.monotonic() + 2 * PATIENCE_S
        while left:
            assert time.monotonic() < deadline, f"no end of {topic} in partitions {sorted(left)}"
            for message in consumer.consume(_CHUNK, timeout=1.0):
                error = message.error()
                if error is None:
                    yield _seen(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    left.discard(message.partition())


def _seen(message: Any) -> Seen:
    return Seen(message.partition(), int(message.key()), number_in(message.value()))


def count_by_spark(spark: Any, servers: str, topic: str, size: Size) -> Counts:
    """The same by Spark: it reads by our own source."""
    (
        spark.read.format("logquake")
        .option("kafka.bootstrap.servers", servers)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", topic)
        .load()
        .selectExpr(
            "partition",
            "offset",
            "cast(cast(key as string) as int) key",
            "cast(split(cast(value as string), ' ')[0] as int) number",
        )
        .createOrReplaceTempView("seen")
    )
    row = spark.sql(_QUERY).first()
    missing = size.rows - row["distinct"]
    return Counts(row["rows"], row["distinct"], missing, row["disordered"], row["scattered"])


_QUERY = """
with ordered as (
  select key, number, partition,
    row_number() over (partition by key, number order by partition, offset) = 1 as is_first,
    max(number) over (
      partition by key order by partition, offset
      rows between unbounded preceding and 1 preceding
    ) as highest
  from seen
)
select
  count(*) as rows,
  count(distinct key, number) as distinct,
  count_if(is_first and number < highest) as disordered,
  (select count(*) from
    (select key from seen group by key having count(distinct partition) > 1)) as scattered
from ordered
"""
