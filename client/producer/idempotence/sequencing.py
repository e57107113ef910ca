"""What numbering batches inside and outside transactions has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.idempotence.sequences import SequenceBook
from logquake.client.producer.queues import Queue
from logquake.wire.errors import ErrorCode


class Sequencing(ABC):
    """The common part of a `Numbering`."""

    def __init__(self, sequences: SequenceBook) -> None:
        self._sequences = sequences

    @property
    @abstractmethod
    def _identity(self) -> Identity | None:
        """The identity with which new batches are numbered."""

    def holds_back(self, batch: ProducerBatch) -> bool:
        identity = self._identity
        return identity is None or self._sequences.holds_back(batch, identity)

    def number(self, batch: ProducerBatch) -> None:
        identity = self._identity
        if identity is not None:
            self._sequences.number(batch, identity)

    def put_back(self, queue: Queue, batch: ProducerBatch) -> None:
        self._sequences.put_back(queue, batch)

    def written(self, batch: ProducerBatch, base_offset: int) -> None:
        self._sequences.written(batch, base_offset)

    def was_split(self, batch: ProducerBatch) -> None:
        self._sequences.was_split(batch)

    def given_up(self, batch: ProducerBatch) -> None:
        self._sequences.given_up(batch)

    def may_retry(self, batch: ProducerBatch, code: ErrorCode, log_start_offset: int) -> bool:
        match code:
            case ErrorCode.UNKNOWN_PRODUCER_ID:
                return self._retry_forgotten(batch, log_start_offset)
            case ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                return self._retry_out_of_order(batch)
            case _:
                return code.retriable

    @abstractmethod
    def _retry_forgotten(self, batch: ProducerBatch, log_start_offset: int) -> bool:
        """Handle a leader that does not know this producer."""

    @abstractmethod
    def _retry_out_of_order(self, batch: ProducerBatch) -> bool:
        """Handle a leader that lacks the batch before this one."""
