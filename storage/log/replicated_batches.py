"""What a follower checks of a leader's batches before it takes them over as they are."""

from __future__ import annotations

from collections.abc import Sequence

from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import BatchHeader, check_crc, iterate_batches, read_end_marker


class UnexpectedAppendOffset(RecordError):  # noqa: N818  # Kafka's word for it
    """The first batch begins before the log's end; what was to be appended is all intact."""

    def __init__(self, first_offset: int, last_offset: int, end_offset: int) -> None:
        super().__init__(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"the leader sent offset {first_offset} where {end_offset} comes next",
        )
        self.first_offset = first_offset
        self.last_offset = last_offset  # of the last batch


def check_replicated(
    records: memoryview, end_offset: int, latest_epoch: int
) -> list[tuple[int, BatchHeader]]:
    """Positions and headers of the complete batches, which continue a log that ends at end_offset.

    Raises RecordError when one is damaged, or does not continue it; where they only begin too
    early, UnexpectedAppendOffset.
    """
    batches = list(iterate_batches(records))
    first_offset = batches[0][1].base_offset if batches else end_offset
    _check_each(records, batches, min(first_offset, end_offset), latest_epoch)
    if first_offset < end_offset:
        raise UnexpectedAppendOffset(first_offset, batches[-1][1].last_offset, end_offset)
    return batches


def _check_each(
    records: memoryview,
    batches: Sequence[tuple[int, BatchHeader]],
    expected: int,
    epoch: int,
) -> None:
    for position, header in batches:
        check_crc(records, position, header)
        _check_place(header, expected)
        if not header.is_legacy:
            _check_epoch(header, epoch)
            epoch = header.partition_leader_epoch
        if header.is_control and header.record_count:
            read_end_marker(records, position, header)
        expected = header.next_offset


def _check_place(header: BatchHeader, expected: int) -> None:
    """Gaps are what compaction left, be the topic compacted now or not."""
    if header.base_offset < expected:
        raise RecordError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"the leader sent offset {header.base_offset} where {expected} comes next",
        )


def _check_epoch(header: BatchHeader, epoch: int) -> None:
    if header.last_offset_delta < 0 or header.partition_leader_epoch < epoch:
        raise RecordError(
            ErrorCode.CORRUPT_MESSAGE,
            f"batch at {header.base_offset} has last offset {header.last_offset} and leader epoch "
            f"{header.partition_leader_epoch} after epoch {epoch}",
        )
