"""A partition's records, read from its leader from one offset to another.

No group, no commits, no fetch session: a range in, its records out. When the leader moves, the
reader follows, naming the leader epoch it knows so that a leader of the past refuses it (KIP-320).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from logquake.client.aborted import AbortedBatches
from logquake.client.errors import MalformedResponseError, ReadStalledError, check
from logquake.client.offsets import Isolation
from logquake.client.routing import Router
from logquake.wire.errors import RecordError
from logquake.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from logquake.wire.records import (
    BatchHeader,
    Record,
    check_crc,
    iterate_batches,
    iterate_records,
)

_LAST_VERSION_BY_NAME = 12  # later ones name topics by their id


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a partition is read; the names are the consumer's."""

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


class PartitionReader:
    """Reads [start, end) of one partition, in order.

    Offsets that compaction, transactions or their markers left without a record are passed over.
    Raises ClientError: OffsetOutOfRangeError when the log does not hold the next offset,
    ReadStalledError when the end is not reached in time.
    """

    def __init__(
        self,
        router: Router,
        topic: str,
        partition: int,
        start: int,
        end: int,
        options: ReadOptions | None = None,
    ) -> None:
        self._router = router
        self._topic = topic
        self._partition = partition
        self._next = start
        self._end = end
        self._options = options or ReadOptions()

    @property
    def position(self) -> int:
        """The offset that is read next; what was before it has been returned."""
        return self._next

    def records(self) -> Iterator[Record]:
        for batch in self.batches():
            yield from batch.records

    def batches(self) -> Iterator[ReadBatch]:
        """The same, a stored batch at a time; those without a record in the range are left out."""
        clock = self._router.clock
        progress_ms = clock.now_ms()
        while self._next < self._end:
            before = self._next
            for batch in self._decode(self._fetch_with_retries()):
                yield batch
                # The caller's own time with the records is not the broker's silence.
                progress_ms = clock.now_ms()
            if self._next > before:
                progress_ms = clock.now_ms()
            elif clock.now_ms() - progress_ms >= self._options.stall_timeout_ms:
                raise ReadStalledError(
                    f"{self._name}: nothing at {self._next} of {self._end} for "
                    f"{self._options.stall_timeout_ms} ms"
                )

    @property
    def _name(self) -> str:
        return f"{self._topic}-{self._partition}"

    def _fetch_with_retries(self) -> PartitionData:
        return self._router.with_retries(self._fetch, self._options.stall_timeout_ms)

    def _fetch(self) -> PartitionData:
        leader = self._router.leader(self._topic, self._partition)
        options = self._options
        wanted = FetchPartition(
            partition=self._partition,
            current_leader_epoch=leader.epoch,
            fetch_offset=self._next,
            partition_max_bytes=options.fetch_max_bytes,
        )
        request = FetchRequest(
            max_wait_ms=options.fetch_max_wait_ms,
            min_bytes=1,
            max_bytes=options.fetch_max_bytes,
            isolation_level=options.isolation,
            topics=[FetchTopic(topic=self._topic, partitions=[wanted])],
        )
        answer = self._router.broker(leader.broker_id).request(
            request, FetchResponse, at_most=_LAST_VERSION_BY_NAME
        )
        check(answer.error_code, f"fetch from broker {leader.broker_id}")
        found = [partition for topic in answer.responses for partition in topic.partitions]
        if len(found) != 1:
            raise MalformedResponseError(f"{len(found)} partitions where {self._name} was asked")
        check(found[0].error_code, f"{self._name} at offset {self._next}")
        return found[0]

    def _decode(self, data: PartitionData) -> Iterator[ReadBatch]:
        if not isinstance(data.records, memoryview):
            return
        view = data.records
        aborted = AbortedBatches(data.aborted_transactions or [])
        try:
            for position, header in iterate_batches(view):
                records = self._decode_batch(view, position, header, aborted)
                self._next = max(self._next, min(header.next_offset, self._end))
                if records:
                    yield ReadBatch(header, records)
        except RecordError as error:
            raise MalformedResponseError(f"{self._name} at {self._next}: {error}") from error

    def _decode_batch(
        self, view: memoryview, position: int, header: BatchHeader, aborted: AbortedBatches
    ) -> list[Record]:
        if self._options.check_crcs:
            check_crc(view, position, header)
        if aborted.hides(view, position, header):
            return []
        limit = self._options.max_decompressed_bytes
        return [
            record
            for record in iterate_records(view, position, header, limit)
            if self._next <= record.offset < self._end
        ]
