"""Records that travel together to one partition (ProducerBatch, MemoryRecordsBuilder).

A batch is open while records are added; then it is built: encoded and compressed, once. Each
attempt sends what was built, except for the sequence, which may change (KIP-360). In the end it is
settled, once, and the delivery of each record gets its outcome, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import accumulate
from typing import NamedTuple

from logquake.client.errors import ClientError, DeliveryError
from logquake.client.producer.delivery import Delivery, Results
from logquake.client.producer.filling import Filling, Form
from logquake.client.producer.memory import Lease
from logquake.client.producer.runs import Run, RunDelivery, RunFilling
from logquake.client.producer.sequence_order import sequence_after
from logquake.wire.records import (
    HEADER_BYTES,
    Record,
    iterate_records,
    read_header,
    size_bound,
    stamp_producer,
)
from logquake.wire.sentinels import (
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
)
from logquake.wire.topic_partition import TopicPartition


class Stamp(NamedTuple):
    """The producer's id and epoch, and the sequence of the batch's first record."""

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE


class Fate(Enum):
    WRITTEN = "written"
    FAILED = "failed"
    SPLIT = "split"  # its parts replace it


class ProducerBatch:
    """``lease`` is its share of buffer.memory, None for parts of a batch that was split.

    `tell` runs the callbacks, once it is the batch's turn.
    """

    def __init__(
        self,
        place: TopicPartition,
        created_ms: int,
        form: Form,
        lease: Lease | None = None,
        new_filling: Callable[[Form], Filling | RunFilling] = Filling,
    ) -> None:
        self.place = place
        self.created_ms = created_ms
        self.lease = lease
        self.attempts = 0  # failed ones
        self.last_failure: ClientError | None = None  # why it is retried
        self.may_be_written = False  # an attempt was sent whose outcome is unknown
        self.stamp = Stamp()
        self.was_restamped = False  # since it was last sent
        self.fate: Fate | None = None
        self.parts: Sequence[ProducerBatch] = ()  # what it was split into
        self._results = Results(place)
        self._form = form
        # None once it is built or settled.
        self.filling: Filling | RunFilling | None = new_filling(form)
        self.plain_bytes = 0  # bytes of the records, once it is built
        self.largest_bytes = 0  # bytes of the largest record, likewise
        self._count = 0  # likewise, or settled
        self._built: bytearray | None = None
        self._waits_since_ms = created_ms
        self._backoff_ms = 0
        self._leader_epoch = NO_LEADER_EPOCH
        self._attempts_at_last_leader = 0

    def __repr__(self) -> str:
        return f"<{self.place} {self.count} records, sequence {self.stamp.base_sequence}>"

    # While it is open

    @property
    def count(self) -> int:
        """The number of records."""
        return self._count if self.filling is None else self.filling.count

    @property
    def is_full(self) -> bool:
        """Nothing more may be added. The first record always fits, whatever its size."""
        return self.filling is None or self.filling.is_full

    @property
    def estimated_bytes(self) -> int:
        """Exact once it is built, or without compression."""
        if self.filling is not None:
            return self.filling.estimated_bytes
        return 0 if self._built is None else len(self._built)

    def try_append(self, record: Record) -> Delivery | None:
        """None if there was no room; then the batch is closed. Sets the record's offset."""
        filling = self.filling
        if filling is None or (index := filling.try_add(record)) < 0:
            return None
        return Delivery(self._results, index, record)

    def try_append_run(self, run: Run) -> RunDelivery | None:
        """The same, for as many of the run's records as there was room for, at least one."""
        filling = self.filling
        if not isinstance(filling, RunFilling):
            self.close()
            return None
        index = filling.count
        taken = filling.take(run)
        return RunDelivery(self._results, index, taken) if taken else None

    def close(self) -> None:
        """No more records."""
        if self.filling is not None:
            self.filling.is_full = True

    # Sending

    def build(self) -> bytearray:
        """The encoded batch, magic 2."""
        if self._built is None:
            if self.filling is None:
                raise RuntimeError(f"{self!r} is done, and cannot be sent")
            built = self.filling.finish(*self.stamp)
            self._close_up(self.filling)
            self._built = built
        self.was_restamped = False
        return self._built

    @property
    def ratio(self) -> float:
        """Compressed bytes by uncompressed bytes of the built batch."""
        if self._built is None or not self.plain_bytes:
            return 1.0
        return (len(self._built) - HEADER_BYTES) / self.plain_bytes

    @property
    def has_sequence(self) -> bool:
        return self.stamp.base_sequence != NO_SEQUENCE

    @property
    def has_unclear_sequence(self) -> bool:
        """A leader may have it, and would mistake other records with its sequence for it."""
        return self.has_sequence and self.may_be_written

    @property
    def last_sequence(self) -> int:
        return sequence_after(self.stamp.base_sequence, self.count - 1)

    def restamp(self, stamp: Stamp) -> None:
        """Change the sequence, from the next attempt on."""
        self.stamp = stamp
        self.was_restamped = True
        if self._built is not None:
            # The bytes of an earlier attempt may not have left yet.
            self._built = bytearray(self._built)
            stamp_producer(self._built, *stamp)

    # Retries

    def saw_leader(self, epoch: int) -> None:
        """KIP-951: a retry goes to a new leader without waiting."""
        if epoch > self._leader_epoch:
            self._leader_epoch = epoch
            self._attempts_at_last_leader = self.attempts

    @property
    def has_new_leader(self) -> bool:
        """Whether the leader has changed since the last failed attempt."""
        return self.attempts > 0 and self.attempts == self._attempts_at_last_leader

    def will_retry(self, why: ClientError, now_ms: int, backoff_ms: int) -> None:
        self.attempts += 1
        self.last_failure = why
        self._backoff_ms = backoff_ms
        self._waits_since_ms = now_ms

    def backoff_ms(self, now_ms: int) -> int:
        """The rest of its back-off; 0 if the leader has changed since the failure."""
        if not self.attempts or self.has_new_leader:
            return 0
        return max(0, self._backoff_ms - self.waited_ms(now_ms))

    def waited_ms(self, now_ms: int) -> int:
        """Time since its creation, or since its last attempt ended."""
        return max(0, now_ms - self._waits_since_ms)

    def is_overdue(self, delivery_timeout_ms: int, now_ms: int) -> bool:
        return now_ms - self.created_ms >= delivery_timeout_ms

    # The end

    def written(self, base_offset: int, append_time_ms: int) -> bool:
        """Returns False if already settled: a batch that was given up may have been written."""
        if not self._settle(Fate.WRITTEN):
            return False
        self._results.written(base_offset, append_time_ms)
        return True

    def failed(self, error_of: Callable[[int], ClientError]) -> bool:
        """Errors are by the record's index. Returns False if already settled."""
        if not self._settle(Fate.FAILED):
            return False
        may_be_written = self.may_be_written
        self._results.failed(
            lambda index: DeliveryError(error_of(index), may_be_written=may_be_written)
        )
        return True

    @property
    def is_settled(self) -> bool:
        """Whether all its records have an outcome."""
        return self.fate is not None and all(part.is_settled for part in self.parts)

    def _settle(self, fate: Fate) -> bool:
        if self.fate is not None:
            return False
        self.fate = fate
        if self.filling is not None:
            self._close_up(self.filling)
        return True

    def _close_up(self, filling: Filling | RunFilling) -> None:
        self.plain_bytes = filling.plain_bytes
        self.largest_bytes = filling.largest_bytes
        self._count = filling.count
        self.filling = None

    def tell(self) -> None:
        """Run the callbacks of a settled batch; parts of a split batch run their own."""
        if self.fate is not Fate.SPLIT:
            self._results.tell()

    def split(self, limit_bytes: int) -> Sequence[ProducerBatch]:
        """It was too large: put its records into several batches, with the same sequences."""
        parts = self._cut(limit_bytes)
        if len(parts) == 1:  # and would be refused again
            parts = self._cut((HEADER_BYTES + self.plain_bytes) // 2)
        for part in parts:
            part.close()
        self._stamp_in_turn(parts)
        self._settle(Fate.SPLIT)
        self.parts = parts
        firsts = accumulate((part.count for part in parts), initial=0)
        self._results.was_split(
            [(first, part._results) for first, part in zip(firsts, parts, strict=False)]
        )
        return parts

    def _cut(self, limit_bytes: int) -> list[ProducerBatch]:
        parts: list[ProducerBatch] = []
        for record in self._records():
            if not (parts and parts[-1].try_append(record)):
                bound = size_bound(record)
                parts.append(self._part(max(limit_bytes, bound)))
                parts[-1].try_append(record)
                if bound > limit_bytes:  # any other record in its batch would be refused with it
                    parts[-1].close()
        return parts

    def _part(self, limit_bytes: int) -> ProducerBatch:
        form = self._form._replace(limit_bytes=limit_bytes, estimated_ratio=max(1.0, self.ratio))
        part = ProducerBatch(self.place, self.created_ms, form)
        part.may_be_written = self.may_be_written
        return part

    def _stamp_in_turn(self, parts: Sequence[ProducerBatch]) -> None:
        sequence = self.stamp.base_sequence
        for part in parts:
            if self.has_sequence:
                part.stamp = self.stamp._replace(base_sequence=sequence)
                sequence = sequence_after(sequence, part.count)

    def _records(self) -> Iterator[Record]:
        view = memoryview(self.build())
        return iterate_records(view, 0, read_header(view, 0), self.plain_bytes)
