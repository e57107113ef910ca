"""Sequences, as far as batches and their sending depend on them."""

from __future__ import annotations

from typing import Protocol

from logquake.client.errors import ClientError
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.queues import Queue, insert_by_age
from logquake.wire.errors import ErrorCode


class Numbering(Protocol):
    @property
    def hurries(self) -> bool:
        """Nobody waits for linger.ms: a transaction is about to end."""

    def holds_back(self, batch: ProducerBatch, /) -> bool:
        """The first of its queue: it may not be sent now."""

    def number(self, batch: ProducerBatch, /) -> None:
        """It is about to be sent."""

    def put_back(self, queue: Queue, batch: ProducerBatch) -> None:
        """It is tried again, or stands in for a part of one that was too large."""

    def written(self, batch: ProducerBatch, base_offset: int, /) -> None:
        """``base_offset`` is UNKNOWN_OFFSET where the broker only knows that it has it."""

    def was_split(self, batch: ProducerBatch, /) -> None:
        """Its parts stand in for it from now on."""

    def may_retry(
        self, batch: ProducerBatch, code: ErrorCode, log_start_offset: int, /
    ) -> bool: ...

    def failed(self, batch: ProducerBatch, error: ClientError, /, *, leaves_gap: bool) -> None:
        """``leaves_gap``: its sequences will never come, and the broker would wait for them."""

    def given_up(self, batch: ProducerBatch, /) -> None:
        """It was sent before, and may yet be written."""


class Unnumbered:
    """Without idempotence: what failed goes first again, ahead of what was sent after it."""

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
