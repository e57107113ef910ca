"""The batches of a Fetch answer, with what a reader may see of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from logquake.client.consumer.aborted import AbortedBatches
from logquake.wire.messages.fetch import PartitionData
from logquake.wire.records import (
    BatchHeader,
    Record,
    check_crc,
    iterate_batches,
    iterate_records,
)
from logquake.wire.records.walk import WalkedRecord, walk_unguarded


class SeenBatch(NamedTuple):
    """``records`` are parsed as they are taken; none of control batches and aborted ones.

    ``walk`` reads the same without Python between the records, and raises `walk.HOSTILE`; None of
    what it cannot read.
    """

    header: BatchHeader
    records: Iterator[Record]
    walk: Iterator[WalkedRecord] | None = None


def seen_batches(
    data: PartitionData, *, check_crcs: bool, max_decompressed_bytes: int
) -> Iterator[SeenBatch]:
    """In order. A first batch may begin before the offset that was asked for: a broker sends whole
    ones. Raises RecordError, as do the records.
    """
    view = data.records
    if not isinstance(view, memoryview):
        return
    aborted = AbortedBatches(data.aborted_transactions or [])
    for position, header in iterate_batches(view):
        if check_crcs:
            check_crc(view, position, header)
        if aborted.hides(view, position, header):
            yield SeenBatch(header, iter(()))
        else:
            yield _seen(view, position, header, max_decompressed_bytes)


def _seen(view: memoryview, position: int, header: BatchHeader, limit_bytes: int) -> SeenBatch:
    records = iterate_records(view, position, header, limit_bytes)
    if header.is_legacy:
        return SeenBatch(header, records)
    return SeenBatch(header, records, walk_unguarded(view, position, header, limit_bytes))
