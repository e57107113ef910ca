"""The records of a batch that is open, encoded as they come (MemoryRecordsBuilder)."""

from __future__ import annotations

from typing import NamedTuple

from logquake.client.producer.ratios import MARGIN
from logquake.wire.compression import Codec
from logquake.wire.records import HEADER_BYTES, BatchFlag, BatchPayload, Record, finish_batch
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
    """``is_full``: nothing more may be added; one record may always, whatever its size.

    ``estimated_bytes`` is exact without compression. Both are read for each record that is sent,
    and so kept as they are.
    """

    __slots__ = (
        "_factor",
        "_form",
        "_limit_bytes",
        "_payload",
        "_try_add",
        "estimated_bytes",
        "is_full",
        "plain_bytes",
    )

    def __init__(self, form: Form) -> None:
        is_plain = form.codec is Codec.NONE
        self.plain_bytes = 0  # of the records
        self.estimated_bytes = HEADER_BYTES
        self.is_full = False
        self._form = form
        self._factor = None if is_plain else form.estimated_ratio * MARGIN
        self._limit_bytes = form.limit_bytes
        self._payload = BatchPayload(limit_bytes=form.limit_bytes if is_plain else None)
        self._try_add = self._payload.try_add

    def try_add(self, index: int, record: Record) -> bool:
        """Whether there was room; else it is closed."""
        if self.is_full:
            return False
        factor = self._factor
        if factor is not None and index and not self._has_room(index, record):
            self.is_full = True
            return False
        size = self._try_add(index, record)
        if not size:
            self.is_full = True
            return False
        plain_bytes = self.plain_bytes = self.plain_bytes + size
        estimated = HEADER_BYTES + (plain_bytes if factor is None else int(plain_bytes * factor))
        self.estimated_bytes = estimated
        if estimated >= self._limit_bytes:
            self.is_full = True
        return True

    def _has_room(self, index: int, record: Record) -> bool:
        size = self._payload.size_of(record._replace(offset=index))
        return self.estimated_bytes + size <= self._form.limit_bytes

    def finish(self, producer_id: int, producer_epoch: int, base_sequence: int) -> bytearray:
        """The batch as it is sent, magic 2."""
        return self._form.finish(self._payload, producer_id, producer_epoch, base_sequence)
