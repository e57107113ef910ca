"""One partition's share of a Fetch answer, returned a poll at a time (Kafka's CompletedFetch).

Records are decompressed and parsed by the call that takes them: untaken records cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from logquake.client.consumer.fetch.batches import (
    StoredBatch,
    read,
    stored_batches,
    unreadable,
    walked,
)
from logquake.client.consumer.fetch.statistics import Tally
from logquake.client.consumer.records import ConsumerRecord
from logquake.client.consumer.settings import FetchSettings
from logquake.client.errors import CorruptRecordError
from logquake.wire.errors import RecordError
from logquake.wire.messages.fetch import PartitionData
from logquake.wire.records import BatchHeader, Record
from logquake.wire.records.header import is_complete
from logquake.wire.records.walk import HOSTILE, WalkedRecord
from logquake.wire.sentinels import NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition


class CompletedFetch:
    """``next_offset`` follows the last taken record, ``last_epoch`` is that record's epoch;
    ``node_id`` is who has answered.
    """

    def __init__(
        self,
        place: TopicPartition,
        asked_offset: int,
        data: PartitionData,
        settings: FetchSettings,
        tally: Tally,
        node_id: int,
    ) -> None:
        self.place = place
        self.node_id = node_id
        self.tally = tally
        self.count = 0  # of records taken
        self.data = data
        self.next_offset = asked_offset
        self.last_epoch = NO_LEADER_EPOCH
        self.is_begun = False  # errors and offsets of the log were handled
        self.is_consumed = False
        self._end_offset = asked_offset
        self._failure: CorruptRecordError | None = None
        self._max_decompressed_bytes = settings.max_decompressed_bytes
        self._batches = stored_batches(data, asked_offset, check_crcs=settings.check_crcs)
        self._stored: StoredBatch | None = None  # the batch from which records are taken
        # Its remaining records, once one was taken: one of the two.
        self._walk: Iterator[tuple[WalkedRecord, int]] | None = None
        self._read: Iterator[tuple[Record, int]] | None = None

    @property
    def has_bytes(self) -> bool:
        return bool(self.data.records)

    @property
    def size_bytes(self) -> int:
        records = self.data.records
        return len(records) if isinstance(records, memoryview) else 0

    @property
    def has_batch(self) -> bool:
        """Brokers cut by size, so the bytes may not contain a whole batch."""
        records = self.data.records
        return isinstance(records, memoryview) and is_complete(records)

    def take(self, max_records: int) -> list[ConsumerRecord]:
        """Records in order; none once all are consumed.

        Raises CorruptRecordError once all records before it were taken, and on each later call.
        """
        self._raise_failure()
        taken: list[ConsumerRecord] = []
        try:
            while len(taken) < max_records and self._has_batch_at_hand():
                self._take_of_batch(max_records - len(taken), taken)
        except RecordError as error:
            self._fail(error, taken)
        self.count += len(taken)
        return taken

    def take_batches(self, max_batches: int) -> list[StoredBatch]:
        """Batches as stored, for programs that parse many records at a time. Hidden ones are
        skipped.

        Raises CorruptRecordError like `take`, for batches, but not for the records in them.
        """
        self._raise_failure()
        taken: list[StoredBatch] = []
        try:
            while len(taken) < max_batches and self._has_stored_at_hand():
                self._take_stored(taken)
        except RecordError as error:
            self._fail(error, taken)
        return taken

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _fail(self, error: RecordError, taken: Sequence[object]) -> None:
        """Raises CorruptRecordError at once if no records were taken before it."""
        self._failure = unreadable(self.place, self.next_offset, error)
        if not taken:
            raise self._failure from error

    def drain(self) -> None:
        """Drop the rest."""
        self.is_consumed = True
        self._batches = iter(())
        self._stored = self._walk = self._read = None

    def _has_stored_at_hand(self) -> bool:
        """Otherwise it is consumed; the next offset follows its last batch, whatever that lacks."""
        if self._stored is None:
            self._stored = next(self._batches, None)
            if self._stored is None:
                self.next_offset = max(self.next_offset, self._end_offset)
                self.drain()
                return False
            self.last_epoch = self._stored.header.partition_leader_epoch
        return True

    def _take_stored(self, taken: list[StoredBatch]) -> None:
        batch = self._stored
        if batch is None:
            return
        header = batch.header
        if not batch.is_hidden and header.next_offset > self.next_offset:
            taken.append(batch._replace(first_offset=self.next_offset))
            self.count += max(1, header.record_count)
        self.next_offset = max(self.next_offset, header.next_offset)
        self._stored = self._walk = self._read = None

    def _has_batch_at_hand(self) -> bool:
        is_begun = self._walk is not None or self._read is not None
        if not is_begun and self._has_stored_at_hand() and self._stored is not None:
            self._walk = walked(self._stored, self.next_offset, self._max_decompressed_bytes)
            if self._walk is None:
                self._read_one_by_one(self._stored)
        return self._stored is not None

    def _read_one_by_one(self, batch: StoredBatch) -> None:
        self._walk = None
        self._read = read(batch, self.next_offset, self._max_decompressed_bytes)

    def _take_of_batch(self, most: int, taken: list[ConsumerRecord]) -> None:
        batch, before = self._stored, len(taken)
        if batch is None:
            return
        if self._walk is not None:
            try:
                self._take_in_one_go(batch.header, self._walk, most, taken)
            except HOSTILE:  # reading one by one finds the bad record and its fault
                self._read_one_by_one(batch)
        if self._read is not None:
            self._take_one_by_one(batch.header, self._read, most, taken)
        if len(taken) - before < most:
            self._end_offset = batch.header.next_offset
            self._stored = self._walk = self._read = None

    def _take_in_one_go(
        self,
        header: BatchHeader,
        walk: Iterator[tuple[WalkedRecord, int]],
        most: int,
        taken: list[ConsumerRecord],
    ) -> None:
        """All or nothing. A comprehension, since this runs for every consumed record."""
        place, new = self.place, tuple.__new__
        is_append_time, epoch = header.is_log_append_time, header.partition_leader_epoch
        taken += [
            new(
                ConsumerRecord,
                (
                    place,
                    offset,
                    record.timestamp,
                    is_append_time,
                    record.key,
                    record.value,
                    tuple(headers) if (headers := record.headers) else (),
                    epoch,
                ),
            )
            for record, offset in islice(walk, most)
        ]
        if taken:
            self.next_offset = taken[-1].offset + 1

    def _take_one_by_one(
        self,
        header: BatchHeader,
        records: Iterator[tuple[Record, int]],
        most: int,
        taken: list[ConsumerRecord],
    ) -> None:
        """Takes records until one cannot be read. Raises RecordError."""
        for record, offset in islice(records, most):
            taken.append(
                ConsumerRecord(
                    self.place,
                    offset,
                    record.timestamp_ms,
                    header.is_log_append_time,
                    record.key,
                    record.value,
                    record.headers,
                    header.partition_leader_epoch,
                )
            )
            self.next_offset = offset + 1
