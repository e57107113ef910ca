"""One producer as a partition's log knows it (Kafka's ProducerStateEntry and BatchMetadata)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from logquake.wire.sentinels import NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP, UNKNOWN_OFFSET

MAX_SEQUENCE = 2**31 - 1
BATCHES_RETAINED = 5


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
    """One producer's state; ``batches`` are the latest of its current epoch, oldest first.

    After a snapshot, and after compaction, only the latest of them is known.
    """

    producer_id: int
    epoch: int = NO_PRODUCER_EPOCH
    coordinator_epoch: int = -1  # that of the last marker; none has come
    last_timestamp: int = NO_TIMESTAMP
    current_txn_first_offset: int = UNKNOWN_OFFSET
    batches: tuple[BatchMetadata, ...] = ()

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def in_transaction(self) -> bool:
        return self.current_txn_first_offset != UNKNOWN_OFFSET

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        """It wrote nothing for so long; who is in a transaction never expires."""
        return not self.in_transaction and now_ms - self.last_timestamp >= expiration_ms

    def with_batch(
        self, epoch: int, batch: BatchMetadata, current_txn_first_offset: int
    ) -> ProducerEntry:
        """After a batch of records; a new epoch forgets the batches of the one before."""
        retained = self.batches[1 - BATCHES_RETAINED :] if epoch == self.epoch else ()
        return ProducerEntry(
            self.producer_id,
            epoch,
            self.coordinator_epoch,
            batch.timestamp,
            current_txn_first_offset,
            (*retained, batch),
        )

    def with_end_marker(self, epoch: int, coordinator_epoch: int, timestamp: int) -> ProducerEntry:
        """After the end of its transaction."""
        return ProducerEntry(
            self.producer_id,
            epoch,
            coordinator_epoch,
            timestamp,
            UNKNOWN_OFFSET,
            self.batches if epoch == self.epoch else (),
        )
