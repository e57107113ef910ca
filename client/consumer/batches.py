"""The batches of a Fetch answer, with what a reader may see of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from logquake.client.consumer.aborted import AbortedBatches
from logquake.client.errors import CorruptRecordError
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.messages.fetch import PartitionData
from logquake.wire.records import (
    BatchHeader,
    Record,
    check_crc,
    iterate_batches,
    iterate_records,
)
from logquake.wire.records.walk import WalkedRecord, walk_unguarded


def unreadable(where: str, error: RecordError) -> CorruptRecordError:
    """What a reader is told of records that it cannot have."""
    is_too_large = error.code is ErrorCode.MESSAGE_TOO_LARGE
    hint = " (logquake.max.decompressed.bytes)" if is_too_large else ""
    return CorruptRecordError(f"{where}: {error}{hint}")


class StoredBatch(NamedTuple):
    """As the broker keeps it, of any magic: ``header.size`` bytes of ``view`` from ``position`` on.

    Its records before ``first_offset`` were not asked for. Nobody may see any of a hidden one, of
    an aborted transaction or a control batch.
    """

    header: BatchHeader
    view: memoryview
    position: int
    first_offset: int
    is_hidden: bool = False

    def may_begin_before(self, offset: int) -> bool:
        """Where a compressed message set begins its header does not say."""
        header = self.header
        return header.base_offset < offset or (header.is_legacy and header.is_compressed)


class SeenBatch(NamedTuple):
    """``records`` are parsed as they are taken; none of control batches and aborted ones.

    ``walk`` reads the same without Python between the records, and raises `walk.HOSTILE`; None of
    what it cannot read.
    """

    header: BatchHeader
    records: Iterator[Record]
    walk: Iterator[WalkedRecord] | None = None


def stored_batches(
    data: PartitionData, asked_offset: int, *, check_crcs: bool
) -> Iterator[StoredBatch]:
    """In order. A first batch may begin before the offset that was asked for: a broker sends whole
    ones. Raises RecordError.
    """
    view = data.records
    if not isinstance(view, memoryview):
        return
    aborted = AbortedBatches(data.aborted_transactions or [])
    for position, header in iterate_batches(view):
        if check_crcs:
            check_crc(view, position, header)
        is_hidden = aborted.hides(view, position, header)
        yield StoredBatch(header, view, position, asked_offset, is_hidden)


def seen(batch: StoredBatch, max_decompressed_bytes: int) -> SeenBatch:
    """What is before the offset that was asked for included. Raises RecordError, as do the
    records.
    """
    header, view, position, _, is_hidden = batch
    if is_hidden:
        return SeenBatch(header, iter(()))
    records = iterate_records(view, position, header, max_decompressed_bytes)
    if header.is_legacy:
        return SeenBatch(header, records)
    walk = walk_unguarded(view, position, header, max_decompressed_bytes)
    return SeenBatch(header, records, walk)
