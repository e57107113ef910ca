"""A partition's records, read from its leader from one offset to another.

No group, no commits, no fetch session: a range in, its records out. When the leader moves, the
reader follows.
"""

from __future__ import annotations

from collections.abc import Iterator

from logquake.client.cursor import PartitionCursor, ReadBatch, ReadOptions
from logquake.client.errors import MalformedResponseError, ReadStalledError
from logquake.client.fetching import fetch
from logquake.client.routing import Router
from logquake.wire.messages.fetch import PartitionData
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition


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
        self._options = options or ReadOptions()
        self._cursor = PartitionCursor(TopicPartition(topic, partition), start, self._options, end)

    @property
    def position(self) -> int:
        """The offset that is read next; what was before it has been returned."""
        return self._cursor.position

    def records(self) -> Iterator[Record]:
        for batch in self.batches():
            yield from batch.records

    def batches(self) -> Iterator[ReadBatch]:
        """The same, a stored batch at a time; those without a record in the range are left out."""
        clock, cursor = self._router.clock, self._cursor
        progress_ms = clock.now_ms()
        while not cursor.is_at_end:
            before = cursor.position
            for batch in cursor.take(self._fetch_with_retries()):
                yield batch
                # The caller's own time with the records is not the broker's silence.
                progress_ms = clock.now_ms()
            if cursor.position > before:
                progress_ms = clock.now_ms()
            elif clock.now_ms() - progress_ms >= self._options.stall_timeout_ms:
                raise ReadStalledError(
                    f"{cursor.place}: nothing at {cursor.position} of {cursor.end} for "
                    f"{self._options.stall_timeout_ms} ms"
                )

    def _fetch_with_retries(self) -> PartitionData:
        return self._router.with_retries(self._fetch, self._options.stall_timeout_ms)

    def _fetch(self) -> PartitionData:
        cursor, options = self._cursor, self._options
        leader = self._router.leader(*cursor.place)
        found = fetch(self._router, leader.broker_id, [cursor], options, options.fetch_max_wait_ms)
        if cursor.place not in found:
            raise MalformedResponseError(f"nothing about {cursor.place}, which was asked about")
        data = found[cursor.place]
        cursor.check(data)
        return data
