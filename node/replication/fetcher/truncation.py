"""Where a follower must cut its log after its leader answered with a diverging epoch.

Kafka's AbstractFetcherThread.getOffsetTruncationState, with KIP-279 (ask again with an epoch that
both know) and KIP-595 (the question is the next fetch).
"""

from __future__ import annotations

from logquake.node.replication.api import NO_EPOCH, NO_OFFSET
from logquake.storage.log.leader_epochs import LeaderEpochs


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
    if leader_end_offset == NO_OFFSET:
        return high_watermark
    if leader_epoch == NO_EPOCH:
        return min(leader_end_offset, log_end)
    own_epoch, own_end_offset = epochs.end_offset_for(leader_epoch, log_end)
    if own_end_offset == NO_OFFSET:
        return min(leader_end_offset, log_end)
    if own_epoch != leader_epoch:
        return min(own_end_offset, log_end)
    return min(own_end_offset, leader_end_offset, log_end)
