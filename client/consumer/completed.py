"""One partition's share of a Fetch answer, handed out a poll at a time (Kafka's CompletedFetch).

It is decompressed and parsed as it is taken, by whoever takes it: what nobody asks for costs
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from logquake.client.consumer.batches import SeenBatch, seen_batches
from logquake.client.consumer.records import ConsumerRecord
from logquake.client.consumer.settings import FetchSettings
from logquake.client.errors import CorruptRecordError
from logquake.wire.errors import RecordError
from logquake.wire.messages.fetch import PartitionData
from logquake.wire.records import BatchHeader, Record
from logquake.wire.records.header import is_complete
from logquake.wire.sentinels import NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition


class CompletedFetch:
    """``next_offset`` is what follows the last record taken, ``last_epoch`` the epoch of it."""

    def __init__(
        self, place: TopicPartition, asked_offset: int, data: PartitionData, settings: FetchSettings
    ) -> None:
        self.place = place
        self.data = data
        self.next_offset = asked_offset
        self.last_epoch = NO_LEADER_EPOCH
        self.is_begun = False  # what it says besides records was heeded
        self.is_consumed = False
        self.was_read = False  # a record of it was handed out
        self._end_offset = asked_offset
        self._failure: CorruptRecordError | None = None
        batches = seen_batches(
            data,
            check_crcs=settings.check_crcs,
            max_decompressed_bytes=settings.max_decompressed_bytes,
        )
        self._records = self._walk(batches)

    @property
    def has_bytes(self) -> bool:
        return bool(self.data.records)

    @property
    def has_batch(self) -> bool:
        """A broker cuts by size: there may be bytes, and nothing whole among them."""
        records = self.data.records
        return isinstance(records, memoryview) and is_complete(records)

    def take(self, max_records: int) -> list[ConsumerRecord]:
        """In order; none once it is consumed.

        Raises CorruptRecordError, after all before it were taken, and each time from then on.
        """
        if self._failure is not None:
            raise self._failure
        taken: list[ConsumerRecord] = []
        try:
            for record in islice(self._records, max_records):
                taken.append(record)
                self.next_offset = record.offset + 1
        except RecordError as error:
            context = f"{self.place} at {self.next_offset}: {error}"
            self._failure = CorruptRecordError(context)
            if not taken:
                raise self._failure from error
        else:
            if len(taken) < max_records:
                self.next_offset = max(self.next_offset, self._end_offset)
                self.drain()
        self.was_read = self.was_read or bool(taken)
        return taken

    def drain(self) -> None:
        """Nobody wants what is left."""
        self.is_consumed = True
        self._records = iter(())

    def _walk(self, batches: Iterator[SeenBatch]) -> Iterator[ConsumerRecord]:
        for header, records in batches:
            self.last_epoch = header.partition_leader_epoch
            for record in records:
                if record.offset >= self.next_offset:
                    yield self._record(header, record)
            self._end_offset = header.next_offset

    def _record(self, header: BatchHeader, record: Record) -> ConsumerRecord:
        return ConsumerRecord(
            self.place,
            record.offset,
            record.timestamp_ms,
            header.is_log_append_time,
            record.key,
            record.value,
            record.headers,
            header.partition_leader_epoch,
        )
