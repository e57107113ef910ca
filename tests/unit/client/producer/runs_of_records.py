"""Runs whose records are encoded by wire's own codec, one by one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from logquake.client.producer.runs import Piece, Room
from logquake.wire.records import BatchPayload, Record, size_bound


class RunOfRecords:
    def __init__(self, records: Iterable[Record]) -> None:
        self._records = deque(records)

    @property
    def left(self) -> int:
        return len(self._records)

    @property
    def next_bytes(self) -> int:
        return size_bound(self._records[0])

    def take(self, room: Room) -> Piece:
        payload = BatchPayload(0, room.base_timestamp_ms)
        first_ms = self._records[0].timestamp_ms
        plain_bytes, index = room.plain_bytes, room.next_index
        while self._records:
            record = self._records[0]._replace(offset=index)
            size = payload.size_of(record)
            if index and int(plain_bytes * room.ratio) + size > room.limit_bytes:
                break
            payload.add(record)
            self._records.popleft()
            plain_bytes += size
            index += 1
        encoded = bytes(payload.encoded())
        return Piece(encoded, payload.count, first_ms, payload.max_timestamp)


class RowsOfRecords:
    """All to ``partition``."""

    def __init__(self, records: Sequence[Record], partition: int | None = None) -> None:
        self._records = records
        self._partition = partition

    @property
    def largest_bytes(self) -> int:
        return max(map(size_bound, self._records))

    @property
    def largest_partition(self) -> int | None:
        return self._partition

    def by_partition(
        self, _partition_count: int | None, _now_ms: int
    ) -> list[tuple[int | None, RunOfRecords]]:
        return [(self._partition, RunOfRecords(self._records))]
