"""Where a follower must cut its log: when it begins to follow, and after a diverging epoch.

Kafka's AbstractFetcherThread.truncateToHighWatermark and getOffsetTruncationState, with KIP-279
(ask again with an epoch that both know) and KIP-595 (the question is the next fetch).

Whoever is about to cut several logs has their checkpoints written together (PrepareCuts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.storage.log.leader_epochs import LeaderEpochs
from logquake.storage.log.log import Log
from logquake.wire.sentinels import NO_LEADER_EPOCH, UNKNOWN_OFFSET

# LogDirs.prepare_cuts: logs, and the offsets that they are about to be truncated to.
PrepareCuts = Callable[[Iterable[tuple[Log, int]]], None]


def needs_cut_without_epochs(replica: ReplicaLog) -> bool:
    """Whether truncate_without_epochs() will cut something off, at the high watermark."""
    return replica.latest_epoch is None and replica.high_watermark < replica.end


def truncate_without_epochs(replica: ReplicaLog) -> None:
    """Let a log that knows no leader epochs begin to follow with what is committed for certain.

    Its last records came in message sets (magic 0 and 1): where they part from the leader's no
    Fetch will tell. What is cut off and was committed all the same, the leader has (Kafka before
    KIP-101). Raises StorageError.
    """
    if needs_cut_without_epochs(replica):
        why = "the log has no leader epochs, and follows another from now on"
        replica.truncate_to(replica.high_watermark, why)


def truncation_offset(
    leader_epoch: int,
    leader_end_offset: int,
    epochs: LeaderEpochs,
    log_end: int,
    high_watermark: int,
) -> int:
    """The offset to cut at, given the leader's largest epoch that it shares, and where it ends.

    Where this log has no such epoch, the cut goes to the end of the next lower one here, and the
    leader will be asked about that one by the next fetch.
    """
    if leader_end_offset == UNKNOWN_OFFSET:
        return high_watermark
    if leader_epoch == NO_LEADER_EPOCH:
        return min(leader_end_offset, log_end)
    own_epoch, own_end_offset = epochs.end_offset_for(leader_epoch, log_end)
    if own_end_offset == UNKNOWN_OFFSET:
        return min(leader_end_offset, log_end)
    if own_epoch != leader_epoch:
        return min(own_end_offset, log_end)
    return min(own_end_offset, leader_end_offset, log_end)
