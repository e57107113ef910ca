"""What a partition knows of its idempotent producers (KIP-98; ProducerStateManager).

The five latest batches of each producer id tell a repeated batch from a new one, the last
sequence tells a gap. As in Kafka 3.9 an unknown producer id is taken with any sequence and
UNKNOWN_PRODUCER_ID is never answered (KIP-360).

Updates are provisional until keep(): the batches behind them are staged, not yet written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import NO_PRODUCER_ID, NO_SEQUENCE, BatchHeader

MAX_SEQUENCE = 2**31 - 1
BATCHES_RETAINED = 5
NO_EPOCH = -1
NO_OFFSET = -1


class BatchMetadata(NamedTuple):
    """One batch that a producer wrote."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return (self.last_sequence - self.offset_delta) & MAX_SEQUENCE

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


@dataclass(frozen=True, slots=True)
class ProducerEntry:
    """One producer's state; ``batches`` are the latest of its current epoch, oldest first."""

    producer_id: int
    epoch: int = NO_EPOCH
    coordinator_epoch: int = -1
    last_timestamp: int = -1
    current_txn_first_offset: int = NO_OFFSET
    batches: tuple[BatchMetadata, ...] = ()

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE


class ProducerStates:
    """``end_offset`` is the offset up to which the log's batches are reflected."""

    def __init__(self) -> None:
        self.end_offset = 0
        self._entries: dict[int, ProducerEntry] = {}
        self._before: dict[int, ProducerEntry | None] = {}
        self._end_offset_before: int | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, producer_id: int) -> ProducerEntry | None:
        return self._entries.get(producer_id)

    def entries(self) -> list[ProducerEntry]:
        """All of them, by producer id."""
        return [self._entries[producer_id] for producer_id in sorted(self._entries)]

    def check(self, header: BatchHeader) -> BatchMetadata | None:
        """May a client's batch be appended? The earlier batch when it only repeats that one.

        Raises RecordError INVALID_PRODUCER_EPOCH or OUT_OF_ORDER_SEQUENCE_NUMBER.
        """
        entry = self._entries.get(header.producer_id)
        if entry is None:
            return None
        if header.producer_epoch == entry.epoch:
            duplicate = _find_duplicate(entry, header)
            if duplicate is None and not _follows(entry.last_sequence, header.base_sequence):
                raise _out_of_order(header, f"the last one is {entry.last_sequence}")
            return duplicate
        if header.producer_epoch < entry.epoch:
            raise RecordError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {header.producer_id} is at epoch {entry.epoch}, "
                f"the batch has {header.producer_epoch}",
            )
        if header.base_sequence != 0 and entry.epoch != NO_EPOCH:
            raise _out_of_order(header, f"epoch {header.producer_epoch} begins with 0")
        return None

    def append_data(self, header: BatchHeader, first_offset: int, timestamp: int) -> None:
        """A batch of records was appended at first_offset."""
        last_offset = first_offset + header.last_offset_delta
        if header.producer_id != NO_PRODUCER_ID:
            self._put(self._with_batch(header, first_offset, last_offset, timestamp))
        self._advance(last_offset + 1)

    def append_end_marker(
        self, header: BatchHeader, first_offset: int, coordinator_epoch: int, timestamp: int
    ) -> None:
        """The marker that ends the producer's transaction was appended at first_offset."""
        entry = self._entry(header.producer_id)
        self._put(
            ProducerEntry(
                header.producer_id,
                header.producer_epoch,
                coordinator_epoch,
                timestamp,
                NO_OFFSET,
                entry.batches if header.producer_epoch == entry.epoch else (),
            )
        )
        self._advance(first_offset + header.last_offset_delta + 1)

    def skip_to(self, end_offset: int) -> None:
        """Everything before end_offset is reflected: it changed no producer."""
        self._advance(end_offset)

    def keep(self) -> None:
        """What was appended is written: it stands."""
        self._before.clear()
        self._end_offset_before = None

    def roll_back(self) -> None:
        """Undo every append since keep()."""
        for producer_id, entry in self._before.items():
            if entry is None:
                del self._entries[producer_id]
            else:
                self._entries[producer_id] = entry
        if self._end_offset_before is not None:
            self.end_offset = self._end_offset_before
        self.keep()

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget producers without a transaction that wrote nothing for expiration_ms."""
        for entry in self.entries():
            idle_ms = now_ms - entry.last_timestamp
            if entry.current_txn_first_offset == NO_OFFSET and idle_ms >= expiration_ms:
                del self._entries[entry.producer_id]
                self._before.pop(entry.producer_id, None)

    def load(self, entries: Iterable[ProducerEntry], end_offset: int) -> None:
        """Start over from a snapshot."""
        self._entries = {entry.producer_id: entry for entry in entries}
        self.end_offset = end_offset
        self.keep()

    def _with_batch(
        self, header: BatchHeader, first_offset: int, last_offset: int, timestamp: int
    ) -> ProducerEntry:
        entry = self._entry(header.producer_id)
        metadata = BatchMetadata(
            header.last_sequence, last_offset, header.last_offset_delta, timestamp
        )
        retained = entry.batches if header.producer_epoch == entry.epoch else ()
        txn_first_offset = entry.current_txn_first_offset
        if txn_first_offset == NO_OFFSET and header.is_transactional:
            txn_first_offset = first_offset
        return ProducerEntry(
            header.producer_id,
            header.producer_epoch,
            entry.coordinator_epoch,
            timestamp,
            txn_first_offset,
            (*retained[1 - BATCHES_RETAINED :], metadata),
        )

    def _entry(self, producer_id: int) -> ProducerEntry:
        return self._entries.get(producer_id) or ProducerEntry(producer_id)

    def _put(self, entry: ProducerEntry) -> None:
        producer_id = entry.producer_id
        if producer_id not in self._before:
            self._before[producer_id] = self._entries.get(producer_id)
        self._entries[producer_id] = entry

    def _advance(self, end_offset: int) -> None:
        if self._end_offset_before is None:
            self._end_offset_before = self.end_offset
        self.end_offset = end_offset


def _find_duplicate(entry: ProducerEntry, header: BatchHeader) -> BatchMetadata | None:
    last_sequence = header.last_sequence
    for batch in entry.batches:
        if batch.last_sequence == last_sequence and batch.first_sequence == header.base_sequence:
            return batch
    return None


def _follows(last_sequence: int, base_sequence: int) -> bool:
    return base_sequence == last_sequence + 1 or (
        base_sequence == 0 and last_sequence == MAX_SEQUENCE
    )


def _out_of_order(header: BatchHeader, why: str) -> RecordError:
    return RecordError(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {header.producer_id} sent sequence {header.base_sequence}, {why}",
    )
