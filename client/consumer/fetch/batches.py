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

# One less than the maximum: the position after it has to fit into a Fetch request.
_LAST_OFFSET = 2**63 - 2
_LAST_BASE_OFFSET = _LAST_OFFSET - (2**31 - 1)  # leaves room for any delta

R = TypeVar("R", Record, WalkedRecord)


def unreadable(place: TopicPartition, offset: int, error: RecordError) -> CorruptRecordError:
    """The error for a reader of records that cannot be read, from ``offset`` on."""
    is_too_large = error.code is ErrorCode.MESSAGE_TOO_LARGE
    hint = " (logquake.max.decompressed.bytes)" if is_too_large else ""
    return CorruptRecordError(place, offset, f"{error}{hint}")


class StoredBatch(NamedTuple):
    """A batch as stored, of any magic: ``header.size`` bytes of ``view`` from ``position`` on.

    Its records before ``first_offset`` were not requested. A hidden batch is a control batch or
    belongs to an aborted transaction; no reader sees its records.
    """

    header: BatchHeader
    view: memoryview
    position: int
    first_offset: int
    is_hidden: bool = False

    def may_begin_before(self, offset: int) -> bool:
        """The header of a compressed message set does not say where it begins."""
        header = self.header
        return header.base_offset < offset or (header.is_legacy and header.is_compressed)


def stored_batches(
    data: PartitionData, asked_offset: int, *, check_crcs: bool
) -> Iterator[StoredBatch]:
    """In order. The first batch may begin before the requested offset, since brokers send whole
    batches. Raises RecordError.
    """
    view = data.records
    if not isinstance(view, memoryview):
        return
    aborted = AbortedBatches(data.aborted_transactions or [])
    for position, header in iterate_batches(view):
        if header.base_offset > _LAST_BASE_OFFSET:  # which the checksum does not cover
            raise corrupt(f"a batch at offset {header.base_offset}")
        if check_crcs:
            check_crc(view, position, header)
        is_hidden = aborted.hides(view, position, header)
        yield StoredBatch(header, view, position, asked_offset, is_hidden)


def walked(
    batch: StoredBatch, first_offset: int, max_decompressed_bytes: int
) -> Iterator[tuple[WalkedRecord, int]] | None:
    """Like `read`, but most records are walked without Python code; None if that is impossible.

    Raises RecordError, and, from each record, `walk.HOSTILE`: then `read` finds out more.
    """
    header, view, position, _, is_hidden = batch
    if is_hidden or header.is_legacy:
        return None
    walk = walk_unguarded(view, position, header, max_decompressed_bytes)
    return _numbered(header, walk, first_offset)


def read(
    batch: StoredBatch, first_offset: int, max_decompressed_bytes: int
) -> Iterator[tuple[Record, int]]:
    """The records from ``first_offset`` on with their offsets, parsed lazily; none if the batch is
    hidden. Raises RecordError.
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
    """Offsets rise, whatever the records claim. If there are as many records as offsets, as in all
    batches that brokers have not compacted, offsets are counted: this runs for every consumed
    record.
    """
    base_offset = header.base_offset
    if header.record_count != header.last_offset_delta + 1:
        return _rising(records, first_offset)
    if first_offset > base_offset:
        records = islice(records, min(first_offset - base_offset, header.record_count), None)
        base_offset = first_offset
    return zip(records, range(base_offset, header.next_offset), strict=False)


def _rising(records: Iterator[R], first_offset: int) -> Iterator[tuple[R, int]]:
    """Skip records whose offset does not rise (CompletedFetch.nextFetchedRecord)."""
    last = first_offset - 1
    for record in records:
        offset = record.offset
        if offset > last:
            last = offset
            yield record, offset


def _possible(records: Iterator[Record]) -> Iterator[Record]:
    """Compressed messages may claim any offset. Raises RecordError for an impossible one."""
    for record in records:
        if record.offset > _LAST_OFFSET:
            raise corrupt(f"a record at offset {record.offset}")
        yield record
