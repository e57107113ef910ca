"""Sequences, as seen by the code that batches and sends."""

from __future__ import annotations

from typing import Protocol

from logquake.client.errors import ClientError
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.queues import Queue, insert_by_age
from logquake.wire.errors import ErrorCode


class Numbering(Protocol):
    @property
    def hurries(self) -> bool:
        """Whether to ignore linger.ms, because a transaction is about to end."""

    def holds_back(self, batch: ProducerBatch, /) -> bool:
        """Whether the batch, the first of its queue, may not be sent now."""

    def number(self, batch: ProducerBatch, /) -> None:
        """Assign a sequence: the batch is about to be sent."""

    def put_back(self, queue: Queue, batch: ProducerBatch) -> None:
        """Enqueue a batch that is retried, or that is a part of one that was too large."""

    def written(self, batch: ProducerBatch, base_offset: int, /) -> None:
        """``base_offset`` is UNKNOWN_OFFSET if the broker only recognized a duplicate."""

    def was_split(self, batch: ProducerBatch, /) -> None:
        """Its parts replace it from now on."""

    def may_retry(
        self, batch: ProducerBatch, code: ErrorCode, log_start_offset: int, /
    ) -> bool: ...

    def failed(self, batch: ProducerBatch, error: ClientError, /, *, leaves_gap: bool) -> None:
        """``leaves_gap``: its sequences will never arrive, but the broker expects them."""

    def given_up(self, batch: ProducerBatch, /) -> None:
        """The batch was sent before, and may still be written."""


class Unnumbered:
    """Without idempotence: a failed batch goes ahead of all that were sent after it."""

    hurries = False

    def holds_back(self, _batch: ProducerBatch) -> bool:
        return False

    def number(self, _batch: ProducerBatch) -> None:
        pass

    def put_back(self, queue: Queue, batch: ProducerBatch) -> None:
        insert_by_age(queue, batch)

    def written(self, _batch: ProducerBatch, _base_offset: int) -> None:
        pass

    def was_split(self, _batch: ProducerBatch) -> None:
        pass

    def may_retry(self, _batch: ProducerBatch, code: ErrorCode, _log_start_offset: int) -> bool:
        return code.retriable

    def failed(self, _batch: ProducerBatch, _error: ClientError, *, leaves_gap: bool) -> None:
        pass

    def given_up(self, _batch: ProducerBatch) -> None:
        pass
