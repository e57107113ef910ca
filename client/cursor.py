"""A place in one partition that moves on: what it asks of a leader, and what answers hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from logquake.client.consumer.batches import seen, stored_batches
from logquake.client.consumer.settings import Isolation
from logquake.client.errors import MalformedResponseError, check
from logquake.wire.errors import RecordError
from logquake.wire.messages.fetch import FetchPartition, PartitionData
from logquake.wire.records import BatchHeader, Record
from logquake.wire.topic_partition import TopicPartition

NO_END = 1 << 63  # above every offset


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How partitions are read; the names are the consumer's."""

    isolation: Isolation = Isolation.READ_UNCOMMITTED
    # fetch.max.bytes: a broker returns one whole batch even if that is more.
    fetch_max_bytes: int = 4 * 1024 * 1024
    # fetch.max.wait.ms: how long a broker holds a Fetch that it has nothing for.
    fetch_max_wait_ms: int = 500
    # How long to go on without any progress, through elections too.
    stall_timeout_ms: int = 60_000
    # check.crcs
    check_crcs: bool = True
    # What one batch may decompress to.
    max_decompressed_bytes: int = 128 * 1024 * 1024


class ReadBatch(NamedTuple):
    """A stored batch and those of its records that were asked for."""

    header: BatchHeader
    records: list[Record]


class PartitionCursor:
    """Goes through [start, end) of one partition, in order.

    Offsets that compaction, transactions or their markers left without a record are passed over.
    """

    def __init__(
        self, place: TopicPartition, start: int, options: ReadOptions, end: int = NO_END
    ) -> None:
        self.place = place
        self.end = end
        self._next = start
        self._options = options

    @property
    def position(self) -> int:
        """The offset that is read next; what was before it has been returned."""
        return self._next

    @property
    def is_at_end(self) -> bool:
        return self._next >= self.end

    def question(self, leader_epoch: int) -> FetchPartition:
        """It names the epoch, so that a leader of the past refuses (KIP-320)."""
        return FetchPartition(
            partition=self.place.partition,
            current_leader_epoch=leader_epoch,
            fetch_offset=self._next,
            partition_max_bytes=self._options.fetch_max_bytes,
        )

    def check(self, data: PartitionData) -> None:
        """Raises BrokerError: OffsetOutOfRangeError when the log does not hold the next offset."""
        check(data.error_code, f"{self.place} at offset {self._next}")

    def take(self, data: PartitionData) -> Iterator[ReadBatch]:
        """Its batches that have a record in the range; the position follows.

        Raises MalformedResponseError.
        """
        limit_bytes = self._options.max_decompressed_bytes
        batches = stored_batches(data, self._next, check_crcs=self._options.check_crcs)
        try:
            for header, those, _ in (seen(batch, limit_bytes) for batch in batches):
                records = [record for record in those if self._next <= record.offset < self.end]
                self._next = max(self._next, min(header.next_offset, self.end))
                if records:
                    yield ReadBatch(header, records)
        except RecordError as error:
            raise MalformedResponseError(f"{self.place} at {self._next}: {error}") from error
