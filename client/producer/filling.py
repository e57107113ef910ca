"""The records of an open batch, encoded as they are added (MemoryRecordsBuilder)."""

from __future__ import annotations

from typing import NamedTuple

from logquake.client.producer.ratios import MARGIN
from logquake.wire.compression import Codec
from logquake.wire.records import HEADER_BYTES, BatchFlag, GrowingPayload, Record, finish_batch
from logquake.wire.records.payload import Payload


class Form(NamedTuple):
    """How large a batch may grow, and how it is compressed."""

    limit_bytes: int
    codec: Codec = Codec.NONE
    level: int | None = None
    estimated_ratio: float = 1.0
    is_transactional: bool = False

    def finish(
        self, payload: Payload, producer_id: int, producer_epoch: int, base_sequence: int
    ) -> bytearray:
        """The batch as it is sent, magic 2."""
        return finish_batch(
            payload,
            codec=self.codec,
            level=self.level,
            flags=BatchFlag.TRANSACTIONAL if self.is_transactional else 0,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
        )


class Filling:
    """``is_full``: nothing more may be added. The first record always fits, whatever its size.

    ``estimated_bytes`` is exact without compression. Both are read for each record, and so stored.
    If an exception, such as a signal handler's, interrupts an addition, the next one corrects them.
    The payload alone determines which records there are.
    """

    __slots__ = (
        "_factor",
        "_form",
        "_limit_bytes",
        "_payload",
        "_try_add",
        "estimated_bytes",
        "is_full",
    )

    def __init__(self, form: Form) -> None:
        is_plain = form.codec is Codec.NONE
        self.estimated_bytes = HEADER_BYTES
        self.is_full = False
        self._form = form
        self._factor = None if is_plain else form.estimated_ratio * MARGIN
        self._limit_bytes = form.limit_bytes
        self._payload = GrowingPayload(form.limit_bytes if is_plain else None)
        self._try_add = self._payload.try_add

    @property
    def count(self) -> int:
        """The number of records."""
        self._payload.settle()
        return self._payload.count

    @property
    def plain_bytes(self) -> int:
        """The size of the records."""
        self._payload.settle()
        return self._payload.plain_bytes

    @property
    def largest_bytes(self) -> int:
        """The size of the largest record."""
        self._payload.settle()
        return self._payload.largest_bytes

    def try_add(self, record: Record) -> int:
        """The record's index; -1 if there was no room, and then the batch is closed."""
        if self.is_full:
            return -1
        payload, factor = self._payload, self._factor
        if factor is not None and not self._has_room(record, factor):
            self.is_full = True
            return -1
        plain_bytes = self._try_add(record)
        if not plain_bytes:
            self.is_full = True
            return -1
        estimated = HEADER_BYTES + (plain_bytes if factor is None else int(plain_bytes * factor))
        self.estimated_bytes = estimated
        if estimated >= self._limit_bytes:
            self.is_full = True
        return payload.count - 1

    def _has_room(self, record: Record, factor: float) -> bool:
        payload = self._payload
        size = payload.size_of_next(record)
        estimated = HEADER_BYTES + int(payload.plain_bytes * factor)
        return not payload.count or estimated + size <= self._limit_bytes

    def finish(self, producer_id: int, producer_epoch: int, base_sequence: int) -> bytearray:
        """The batch as it is sent, magic 2."""
        self._payload.settle()
        return self._form.finish(self._payload, producer_id, producer_epoch, base_sequence)
