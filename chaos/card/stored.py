"""What topics hold twice, or in another order than it was made, of clients that write no history.

A record is known by its timestamp, key, value and headers, which clients leave alone when they send
again. Whose it is, the CRC of its batch says, which the links saw on its way.

Caveats: two records that are equal in all that, within one millisecond, count as one that is there
twice. Who sets timestamps of its own, or shares a client id with another program, looks as if
records were reordered. Where topics have LogAppendTime, nobody knows whose a record is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from logquake.chaos.card.clients import UNNAMED
from logquake.chaos.history.lines import to_line
from logquake.chaos.history.reader import read_file
from logquake.chaos.history.rows import Kind, Row
from logquake.client import Consumer
from logquake.client.errors import ClientError
from logquake.client.sync.ranges import ReadBatch, read_range
from logquake.cluster.observing.onlookers import ONLOOKER
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition

PROCESS = "stored"

Senders = Mapping[tuple[str, int], str]  # a partition and a CRC: a client's id


class Finding(NamedTuple):
    at_us: int
    what: Kind
    partition: str
    offset: int
    other: int
    client: str


def stored_rows(config: Mapping[str, object], topics: Iterable[str], links: Path) -> list[Row]:
    """By time. ``links`` is the file that the watch has written, ``config`` a client's.

    Raises ClientError.
    """
    senders = senders_of(links)
    with Consumer(config, client_id=ONLOOKER, isolation_level="read_committed") as consumer:
        found = sorted(each for topic in topics for each in _of_topic(consumer, topic, senders))
    return [
        Row(
            each.at_us,
            PROCESS,
            sequence,
            each.what,
            each.partition,
            offset=each.offset,
            before=each.other,
            key=each.client,
        )
        for sequence, each in enumerate(found, 1)
    ]


def write_stored(
    config: Mapping[str, object], topics: Iterable[str], links: Path, folder: Path
) -> str | None:
    """Into ``folder/stored.jsonl``; what is wrong, if the topics could not be read."""
    try:
        rows = stored_rows(config, topics, links)
    except ClientError as error:
        return f"what is stored twice nobody could say: {error}"
    (folder / f"{PROCESS}.jsonl").write_bytes(b"".join(map(to_line, rows)))
    return None


def senders_of(links: Path) -> Senders:
    return {
        (partition, crc): row.key or UNNAMED
        for row in read_file(links)
        for partition, crc, _ in row.before.get("batches", ())
    }


def _of_topic(consumer: Consumer, topic: str, senders: Senders) -> Iterator[Finding]:
    places = [TopicPartition(topic, each.partition) for each in consumer.partitions_for(topic)]
    starts, ends = consumer.beginning_offsets(places), consumer.end_offsets(places)
    for place in places:
        batches = read_range(consumer, place, starts[place], ends[place])
        yield from misplaced(str(place), batches, senders)


def misplaced(partition: str, batches: Iterable[ReadBatch], senders: Senders) -> Iterator[Finding]:
    """About 100 bytes are kept of each record."""
    first: dict[int, int] = {}
    latest: dict[str, tuple[int, int]] = defaultdict(lambda: (-1, -1))
    for batch in batches:
        client = senders.get((partition, batch.header.crc), UNNAMED)
        for record in batch.records:
            at_us = record.timestamp_ms * 1000
            before = first.setdefault(_identity(record), record.offset)
            latest_ms, latest_offset = latest[client]
            if before != record.offset:
                yield Finding(at_us, Kind.STORED_TWICE, partition, record.offset, before, client)
            elif record.timestamp_ms < latest_ms:
                yield Finding(
                    at_us, Kind.STORED_LATE, partition, record.offset, latest_offset, client
                )
            else:
                latest[client] = (record.timestamp_ms, record.offset)


def _identity(record: Record) -> int:
    return hash((record.timestamp_ms, record.key, record.value, record.headers))
