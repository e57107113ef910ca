"""Holding a future to the log that it copies.

The log may be truncated, or lose its beginning, while it is copied, and between two runs of the
broker. Both are told by leader epochs and offsets, as a follower is told by its leader
(ReplicaAlterLogDirsThread.truncate).
"""

from __future__ import annotations

from logquake.node.replication.fetcher.truncation import truncation_offset
from logquake.storage.log.log import Log


def align(source: Log, future: Log, high_watermark: int, *, was_cut: bool) -> None:
    """Make the future a prefix of the source. Raises StorageError.

    was_cut: the source may have been truncated since the last time. Logs without leader epochs
    are then trusted up to the high watermark alone.
    """
    while (offset := _divergence(source, future, high_watermark, was_cut=was_cut)) is not None:
        before = (future.written_end_offset, future.epochs.latest)
        future.truncate_to(offset)
        if (future.written_end_offset, future.epochs.latest) == before:
            future.truncate_fully_and_start_at(_first_offset(source))  # nothing in common
    if future.written_end_offset <= source.start_offset:
        first_offset = _first_offset(source)
        if future.written_end_offset != first_offset:  # a gap, or within the batch that comes next
            future.truncate_fully_and_start_at(first_offset)


def position(source: Log, future: Log) -> int:
    """Where in the source to go on copying: it may start within the batch that comes next."""
    return max(source.start_offset, future.written_end_offset)


def complete(source: Log, future: Log, high_watermark: int) -> None:
    """Give a future that has all records the rest of what the source knows. Raises StorageError.

    Its settings, its start, how far it is compacted, and epochs in which nothing was written yet.
    """
    future.reconfigure(source.config)
    future.raise_start(source.start_offset, high_watermark)
    latest = future.epochs.latest
    for epoch, start_offset in source.epochs.entries:
        if latest is None or epoch > latest:
            future.epochs.assign(epoch, start_offset)
    future.commit()
    future.cleaning.cleaned_to = source.cleaning.cleaned_to


def _divergence(source: Log, future: Log, high_watermark: int, *, was_cut: bool) -> int | None:
    """Where the future must be cut; None if it is a prefix of the source."""
    end = future.written_end_offset
    latest = future.epochs.latest
    if latest is None:
        bound = min(source.written_end_offset, high_watermark if was_cut else end)
        return bound if bound < end else None
    epoch, epoch_end = source.epochs.end_offset_for(latest, source.written_end_offset)
    if epoch == latest and epoch_end >= end:
        return None
    return truncation_offset(epoch, epoch_end, future.epochs, end, high_watermark)


def _first_offset(source: Log) -> int:
    """Where the batch begins that holds the log's start; the start itself, if there is none.

    Of a message set's wrapper no more than the last offset is known without decompressing it: the
    copy then begins at the start, with a wrapper that holds earlier records (as in Kafka).
    """
    start = source.start_offset
    first = source.read(start, 1, up_to=source.written_end_offset)
    return min(start, first.first_offset) if first.size else start
