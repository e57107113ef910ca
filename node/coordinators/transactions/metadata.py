"""What is known of a transactional id, and what is being written about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from logquake.node.coordinators.transactions.states import (
    Dead,
    Empty,
    Partitions,
    Prepared,
    TransactionState,
)
from logquake.wire.sentinels import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

_LARGEST_EPOCH = 2**15 - 1


@dataclass(frozen=True, slots=True)
class Producer:
    """A producer id in one of its epochs, as a producer names itself."""

    id: int
    epoch: int

    @property
    def is_exhausted(self) -> bool:
        """No producer gets the last epoch: it is kept for fencing whoever has the one before."""
        return self.epoch >= _LARGEST_EPOCH - 1


NO_PRODUCER = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


@dataclass(frozen=True, slots=True)
class TransactionMetadata:
    """What one record of __transaction_state says; times are those of the wall clock.

    ``last`` is the producer before the latest InitProducerId, by which a repetition of that is
    known (KIP-360). The record has no place for it: whoever reads the log does not know it.
    """

    producer: Producer
    timeout_ms: int
    state: TransactionState
    updated_ms: int
    last: Producer = NO_PRODUCER


class Transaction:
    """One transactional id on its coordinator (Kafka's TransactionMetadata).

    ``metadata`` is what is committed in the log, ``pending`` what is being written: until that is
    done or has failed nothing else may be. Two things run ahead of the log, as in Kafka: a
    prepared transaction loses the partitions that have their marker, and a fenced producer's
    epoch is raised before the record that says so is written.

    ``fence_failed``: that record could not be written. The epoch, which nobody was told, is used
    when its producer is fenced again, lest epochs run out.
    """

    __slots__ = ("fence_failed", "metadata", "pending", "transactional_id")

    def __init__(self, transactional_id: str, metadata: TransactionMetadata) -> None:
        self.transactional_id = transactional_id
        self.metadata = metadata
        self.pending: TransactionMetadata | Dead | None = None
        self.fence_failed = False

    @classmethod
    def new(
        cls, transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int
    ) -> Transaction:
        """Of an id that nobody used before: its producer has no epoch yet."""
        producer = Producer(producer_id, NO_PRODUCER_EPOCH)
        return cls(transactional_id, TransactionMetadata(producer, timeout_ms, Empty(), now_ms))

    @property
    def state(self) -> TransactionState:
        return self.metadata.state

    @property
    def producer(self) -> Producer:
        return self.metadata.producer

    def begin(self, target: TransactionMetadata | Dead) -> None:
        """target is about to be written."""
        if self.pending is not None:
            raise RuntimeError(f"{self.transactional_id}: {target} while {self.pending} is pending")
        self.pending = target

    def complete(self) -> None:
        """What was pending is committed."""
        if not isinstance(self.pending, TransactionMetadata):
            raise RuntimeError(f"{self.transactional_id}: {self.pending} is nothing to become")
        self.metadata, self.pending = self.pending, None

    def give_up(self) -> None:
        """What was pending could not be written."""
        self.pending = None

    def fence(self) -> None:
        """From now on the producer of the transaction that is going on is refused."""
        producer = self.producer
        epoch = producer.epoch if self.fence_failed else producer.epoch + 1
        self.metadata = replace(
            self.metadata,
            producer=Producer(producer.id, epoch),
            last=replace(self.metadata.last, epoch=NO_PRODUCER_EPOCH),
        )

    def marked(self, partitions: Partitions) -> None:
        """These partitions have their markers, or need none any more."""
        state = self.state
        if not isinstance(state, Prepared):
            raise RuntimeError(f"{self.transactional_id}: markers of a transaction in {state}")
        left = replace(state, partitions=state.partitions - partitions)
        self.metadata = replace(self.metadata, state=left)
