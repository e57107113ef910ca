"""The batches of a Fetch answer, and which of them a reader may see."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, TypeVar

from logquake.client.consumer.fetch.aborted import AbortedBatches
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
from logquake.wire.records.refusals import corrupt
from logquake.wire.records.walk import WalkedRecord, walk_unguarded
from logquake.wire.topic_partition import TopicPartition

# What follows has a number, too: that of a consumer's position, which has to go into a Fetch.
_LAST_OFFSET = 2**63 - 2
_LAST_BASE_OFFSET = _LAST_OFFSET - (2**31 - 1)  # whatever the deltas within are

R = TypeVar("R", Record, WalkedRecord)


def unreadable(place: TopicPartition, offset: int, error: RecordError) -> CorruptRecordError:
    """What a reader is told of records that it cannot have, from ``offset`` on."""
    is_too_large = error.code is ErrorCode.MESSAGE_TOO_LARGE
    hint = " (logquake.max.decompressed.bytes)" if is_too_large else ""
    return CorruptRecordError(place, offset, f"{error}{hint}")


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
        if header.base_offset > _LAST_BASE_OFFSET:  # which is outside of the checksum
            raise corrupt(f"a batch at offset {header.base_offset}")
        if check_crcs:
            check_crc(view, position, header)
        is_hidden = aborted.hides(view, position, header)
        yield StoredBatch(header, view, position, asked_offset, is_hidden)


def walked(
    batch: StoredBatch, first_offset: int, max_decompressed_bytes: int
) -> Iterator[tuple[WalkedRecord, int]] | None:
    """As `read`, without Python between most records; None of what cannot be read so.

    Raises RecordError, and of each record `walk.HOSTILE`: then `read` knows more.
    """
    header, view, position, _, is_hidden = batch
    if is_hidden or header.is_legacy:
        return None
    walk = walk_unguarded(view, position, header, max_decompressed_bytes)
    return _numbered(header, walk, first_offset)


def read(
    batch: StoredBatch, first_offset: int, max_decompressed_bytes: int
) -> Iterator[tuple[Record, int]]:
    """The records from ``first_offset`` on with their offsets, parsed as they are taken; none of a
    hidden batch. Raises RecordError.
    """
    header, view, position, _, is_hidden = batch
    if is_hidden:
        return iter(())
    records = iterate_records(view, position, header, max_decompressed_bytes)
    if header.is_legacy:
        return _rising(_possible(records), first_offset)
    return _numbered(header, records, first_offset)


def _numbered(
    header: BatchHeader, records: Iterator[R], first_offset: int
) -> Iterator[tuple[R, int]]:
    """Each offset is larger than the one before, whatever the records say. Where there are as many
    of them as offsets, which brokers see to, they are counted: this is for every record that is
    consumed.
    """
    base_offset = header.base_offset
    if header.record_count != header.last_offset_delta + 1:
        return _rising(records, first_offset)
    if first_offset > base_offset:
        records = islice(records, min(first_offset - base_offset, header.record_count), None)
        base_offset = first_offset
    return zip(records, range(base_offset, header.next_offset), strict=False)


def _rising(records: Iterator[R], first_offset: int) -> Iterator[tuple[R, int]]:
    """Others are passed over (CompletedFetch.nextFetchedRecord)."""
    last = first_offset - 1
    for record in records:
        offset = record.offset
        if offset > last:
            last = offset
            yield record, offset


def _possible(records: Iterator[Record]) -> Iterator[Record]:
    """Within a compressed message offsets are what they say they are. Raises RecordError."""
    for record in records:
        if record.offset > _LAST_OFFSET:
            raise corrupt(f"a record at offset {record.offset}")
        yield record
