"""Leader epochs found out from the batches, where leader-epoch-checkpoint was lost.

Kafka goes on without: a follower that asks where an epoch ended is told nothing, and truncates to
its high watermark, which may be behind what it has acknowledged (KIP-101).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from logquake.storage.log.leader_epochs import UNDEFINED_EPOCH, LeaderEpochs
from logquake.storage.segments.batch_walk import DamagedBatchError
from logquake.storage.segments.segment import Segment


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
                latest = UNDEFINED_EPOCH if epochs.latest is None else epochs.latest
                if header.is_legacy:
                    epochs.clear()
                elif header.partition_leader_epoch > latest:
                    epochs.assign(header.partition_leader_epoch, header.base_offset)


def _has_epochs(segment: Segment) -> bool:
    with suppress(DamagedBatchError):
        for _, header in segment.headers(segment.base_offset):
            return not header.is_legacy and header.partition_leader_epoch != UNDEFINED_EPOCH
    return False
