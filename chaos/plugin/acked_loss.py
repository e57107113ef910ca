"""What was acked, held against what a topic's leaders have.

Caveats: a batch is known by its CRC, which compaction, and a topic's own compression.type, change:
such topics are not to be asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from logquake.chaos.history.reader import journals_in, read_history
from logquake.client import Consumer
from logquake.client.errors import broker_error
from logquake.client.sync.ranges import ReadBatch, read_range
from logquake.cluster.errors import WaitTimeoutError
from logquake.cluster.observing.onlookers import ONLOOKER
from logquake.cluster.running.cluster import RunningCluster
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

# How long an ack by the leader alone may take to become readable.
READABLE_WITHIN_S = 10.0
# A cluster that is down keeps the report of a failed test waiting for so long.
_ANSWERED_WITHIN_MS = 20_000


class AckedBatch(NamedTuple):
    """As the links saw it."""

    topic: str
    partition: int
    offset: int
    crc: int
    records: int
    client: str
    at_us: int

    @property
    def place(self) -> str:
        return str(TopicPartition(self.topic, self.partition))

    @property
    def last_offset(self) -> int:
        return self.offset + self.records - 1

    def is_in(self, batch: ReadBatch) -> bool:
        return batch.header.is_log_append_time or batch.header.crc == self.crc

    def __str__(self) -> str:
        return (
            f"{self.place}, offsets {self.offset} to {self.last_offset}, which {self.client} was "
            f"acked at {_clock(self.at_us)}"
        )


class AckedRecord(NamedTuple):
    """As the client's delivery report said."""

    topic: str
    partition: int
    offset: int
    value: bytes | None

    @property
    def place(self) -> str:
        return str(TopicPartition(self.topic, self.partition))

    @property
    def last_offset(self) -> int:
        return self.offset

    def is_in(self, batch: ReadBatch) -> bool:
        found = (one.value for one in batch.records if one.offset == self.offset)
        return next(found, NOTHING) == self.value

    def __str__(self) -> str:
        return f"{self.place}, offset {self.offset}"


NOTHING = object()
_CUTS = frozenset({"log-truncated", "committed-truncated", "unclean-leader-elected"})

Acked = AckedBatch | AckedRecord


def reading_config(cluster: RunningCluster) -> dict[str, object]:
    """A consumer's, which does not wait for ever where a test has left nobody to answer."""
    return {**cluster.kafka_config(), "default.api.timeout.ms": _ANSWERED_WITHIN_MS}


def lost_of(cluster: RunningCluster, topic: str, acked: Sequence[Acked]) -> Iterator[str]:
    """In words, with what brokers cut off. Raises ClientError, ClusterError."""
    with Consumer(reading_config(cluster), client_id=ONLOOKER) as consumer:
        ends = _ends(cluster, consumer, topic, acked)
        starts = consumer.beginning_offsets(ends)
        for place, end in ends.items():
            start, partition = starts[place], place.partition
            mine = [one for one in acked if one.partition == partition and one.offset >= start]
            for one in _missing(read_range(consumer, place, start, end), mine):
                yield "\n  ".join((str(one), *_truncations(cluster, one)))


def _ends(
    cluster: RunningCluster, consumer: Consumer, topic: str, acked: Sequence[Acked]
) -> dict[TopicPartition, int]:
    """High watermarks, once they have passed what was acked, or do not come to it."""
    places = [TopicPartition(topic, each.partition) for each in consumer.partitions_for(topic)]
    if not places:
        raise broker_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {topic}")

    def are_readable() -> bool:
        ends = consumer.end_offsets(places)
        return all(one.last_offset < ends[TopicPartition(topic, one.partition)] for one in acked)

    with suppress(WaitTimeoutError):
        cluster.eventually(are_readable, "all that was acked to be readable", READABLE_WITHIN_S)
    return consumer.end_offsets(places)


def _missing(batches: Iterable[ReadBatch], acked: Sequence[Acked]) -> Iterator[Acked]:
    missing = dict.fromkeys(acked)
    by_offset: dict[int, list[Acked]] = {}
    for one in acked:
        by_offset.setdefault(one.offset, []).append(one)
    for batch in batches:
        for offset in range(batch.header.base_offset, batch.header.next_offset):
            for one in by_offset.get(offset, ()):
                if one.is_in(batch):
                    missing.pop(one, None)
    yield from missing


def _truncations(cluster: RunningCluster, one: Acked) -> Iterator[str]:
    """What brokers' journals tell of the cuts of that partition's logs."""
    for row in read_history(journals_in(cluster.layout.events, "broker-*")):
        if row.what in _CUTS and row.subject == one.place:
            yield f"{_clock(row.at_us)} {row.process}: {row.what}, {row.why or 'for no reason'}"


def _clock(at_us: int) -> str:
    return f"{datetime.fromtimestamp(at_us / 1_000_000).astimezone():%H:%M:%S.%f}"[:-3]
