"""One range of a partition from its leader, batch by batch as they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from logquake.client.consumer.fetch.batches import StoredBatch, read, unreadable
from logquake.client.errors import OffsetOutOfRangeError, ReadStalledError
from logquake.client.sync.consumer import Consumer
from logquake.wire.errors import RecordError
from logquake.wire.records import BatchHeader, Record
from logquake.wire.topic_partition import TopicPartition


class ReadBatch(NamedTuple):
    """A stored batch, and which of its records were requested."""

    header: BatchHeader
    records: list[Record]


def stored_range(
    consumer: Consumer,
    place: TopicPartition,
    start: int,
    end: int,
    *,
    fail_on_data_loss: bool = True,
) -> Iterator[StoredBatch]:
    """Yield whole every batch with an offset in the range: the first may begin before the range,
    the last may end after it. Invisible and compacted offsets are skipped.

    Without ``fail_on_data_loss``, offsets that retention deleted are skipped too, and those that a
    truncated log no longer reaches, once nothing has arrived for default.api.timeout.ms. Raises
    ClientError: OffsetOutOfRangeError, and ReadStalledError if nothing arrives for that long.
    """
    stall_ms = consumer.config.default_api_timeout_ms
    consumer.assign([place])
    consumer.seek(place, start)
    position = start
    resumed: int | None = None
    while position < end:
        try:
            found = consumer.poll_batches(stall_ms).get(place, ())
        except OffsetOutOfRangeError:
            if fail_on_data_loss:
                raise
            there = _first_there(consumer, place, position)
            if there is None:
                return  # the log now ends before the end of the range
            if there == resumed:
                raise
            consumer.seek(place, there)
            position = resumed = there
            continue
        yield from (each for each in found if each.may_begin_before(end))
        position, before = consumer.position(place), position
        if position == before:
            if not fail_on_data_loss and consumer.end_offsets([place])[place] <= position:
                return
            raise ReadStalledError(f"{place}: nothing at {position} of {end} for {stall_ms} ms")


def _first_there(consumer: Consumer, place: TopicPartition, position: int) -> int | None:
    """The first offset that can be read of a log that has lost records: its beginning, or, if the
    log was truncated and written anew, the offset up to which it was read.
    """
    if consumer.end_offsets([place])[place] <= position:
        return None
    return max(position, consumer.beginning_offsets([place])[place])


def read_range(
    consumer: Consumer, place: TopicPartition, start: int, end: int
) -> Iterator[ReadBatch]:
    """Batches with a record in the range. Raises as stored_range(), and CorruptRecordError."""
    most_bytes = consumer.config.logquake_max_decompressed_bytes
    for stored in stored_range(consumer, place, start, end):
        try:
            records = [
                record
                for record, offset in read(stored, stored.first_offset, most_bytes)
                if offset < end
            ]
        except RecordError as error:
            raise unreadable(place, stored.first_offset, error) from error
        if records:
            yield ReadBatch(stored.header, records)
