"""Leader epochs found out from the batches, where leader-epoch-checkpoint lost all or the earliest.

Kafka goes on without: a follower that asks where an epoch ended is told nothing, and truncates to
its high watermark, which may be behind what it has acknowledged (KIP-101). Or it is told that the
epoch ended where the first entry begins, and never notices that its own log went another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from logquake.storage.log.leader_epochs import LeaderEpochs
from logquake.storage.segments.batch_walk import DamagedBatchError
from logquake.storage.segments.segment import Segment
from logquake.wire.records import BatchHeader
from logquake.wire.sentinels import NO_LEADER_EPOCH


def derive_epochs(segments: Sequence[Segment], epochs: LeaderEpochs) -> None:
    """Fill epochs that have no entries; nothing happens where the records have none either.

    Before a message set, which knows no epoch, none counts any more: a log goes without as long as
    message sets come last. Reads every header, after a look at the first of the last segment that
    has some: logs of message sets alone are not walked through at each start. Raises OSError.
    """
    filled = [segment for segment in segments if segment.size]
    if not filled or not _has_epochs(filled[-1]):
        return
    for segment in filled:
        with suppress(DamagedBatchError):  # told by who reads it
            for _, header in segment.headers(segment.base_offset):
                latest = NO_LEADER_EPOCH if epochs.latest is None else epochs.latest
                if header.is_legacy:
                    epochs.clear()
                elif header.partition_leader_epoch > latest:
                    epochs.assign(header.partition_leader_epoch, header.base_offset)


def derive_earliest_epochs(
    segments: Sequence[Segment], start_offset: int, epochs: LeaderEpochs
) -> None:
    """Add epochs that ended, or began, between a log's start and their first entry.

    A start that is raised takes the epochs before it along. Both are written down in their time,
    and a crash in between may bring the records back. Raises OSError.
    """
    if not epochs.entries or epochs.entries[0].start_offset <= start_offset:
        return
    first_known = epochs.entries[0].start_offset
    found = LeaderEpochs()
    with suppress(DamagedBatchError):  # told by who reads it
        if not _has_epochs_before(segments, first_known):
            return
        for segment in segments:
            if segment.base_offset >= first_known:
                break
            for _, header in segment.headers(start_offset):
                if header.base_offset >= first_known:
                    break
                if header.is_legacy:
                    found.clear()
                else:
                    offset = max(header.base_offset, start_offset)
                    found.assign(header.partition_leader_epoch, offset)
    epochs.restore(LeaderEpochs((*found.entries, *epochs.entries)).entries)


def _has_epochs_before(segments: Sequence[Segment], offset: int) -> bool:
    """Whether the record before offset came in a batch that knows its epoch."""
    for segment in reversed(segments):
        if segment.base_offset < offset:
            for _, header in segment.headers(offset - 1):
                return header.base_offset < offset and _knows_epoch(header)
    return False


def _knows_epoch(header: BatchHeader) -> bool:
    return not header.is_legacy and header.partition_leader_epoch != NO_LEADER_EPOCH


def _has_epochs(segment: Segment) -> bool:
    with suppress(DamagedBatchError):
        for _, header in segment.headers(segment.base_offset):
            return _knows_epoch(header)
    return False
