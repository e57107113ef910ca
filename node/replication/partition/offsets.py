"""Looking up offsets: ListOffsets and OffsetForLeaderEpoch on one partition.

Follows Kafka 3.9's Partition.fetchOffsetForTimestamp, legacyFetchOffsetsForTimestamp and
lastOffsetForLeaderEpoch. Caveat: the epoch of an offset that is older than every epoch entry is
unknown, NO_LEADER_EPOCH.
"""

from __future__ import annotations

from itertools import dropwhile

from logquake.node.replication.partition import reading
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.node.replication.values import EpochEndOffset, Isolation, ListedOffset
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import (
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIERED_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
    NO_LEADER_EPOCH,
    UNKNOWN_OFFSET,
)


def list_offset(
    partition: Partition,
    timestamp: int,
    *,
    isolation: Isolation,
    current_leader_epoch: int,
    only_leader: bool,
) -> ListedOffset:
    """The offset for a timestamp, or for one of the special values.

    Raises StorageError, RecordError.
    """
    error = partition.access_error(current_leader_epoch, only_leader=only_leader)
    if error is not ErrorCode.NONE:
        return ListedOffset(error)
    replica = partition.replica
    if timestamp in (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP):
        epoch = _epoch_at(replica, replica.start)
        return ListedOffset(ErrorCode.NONE, offset=replica.start, leader_epoch=epoch)
    if timestamp == LATEST_TIERED_TIMESTAMP:
        return ListedOffset(ErrorCode.NONE)
    lagging = _is_mark_lagging(partition, isolation)
    bound = reading.bound(replica, isolation)
    if timestamp == LATEST_TIMESTAMP:
        if lagging:
            return ListedOffset(ErrorCode.OFFSET_NOT_AVAILABLE)
        return ListedOffset(ErrorCode.NONE, offset=bound, leader_epoch=partition.leader_epoch)
    return _by_time(replica, timestamp, bound, lagging=lagging)


def _by_time(replica: ReplicaLog, timestamp: int, bound: int, *, lagging: bool) -> ListedOffset:
    found = (
        replica.log.offset_of_max_timestamp()
        if timestamp == MAX_TIMESTAMP
        else replica.log.offset_for_time(timestamp)
    )
    if found is not None and found[1] < bound:
        return ListedOffset(ErrorCode.NONE, *found, leader_epoch=_epoch_at(replica, found[1]))
    return ListedOffset(ErrorCode.OFFSET_NOT_AVAILABLE if lagging else ErrorCode.NONE)


def _is_mark_lagging(partition: Partition, isolation: Isolation) -> bool:
    """After an election the mark may lie below what was served before: better no answer (KIP-207).

    A replica that asks (LOG_END) is not concerned by the mark.
    """
    leader = partition.leader
    return (
        leader is not None
        and isolation is not Isolation.LOG_END
        and leader.epoch_start_offset > partition.replica.high_watermark
    )


def _epoch_at(replica: ReplicaLog, offset: int) -> int:
    epoch = replica.log.epochs.epoch_for(offset)
    return NO_LEADER_EPOCH if epoch is None else epoch


def offsets_before(
    partition: Partition, timestamp: int, max_count: int, *, isolation: Isolation, only_leader: bool
) -> list[int] | ErrorCode:
    """Where segments begin, newest first, from the newest that was last written by timestamp.

    The log's end counts as another that is written now; for who may read no further than the high
    watermark, that takes the place of all beyond it. LATEST_TIMESTAMP: all of them,
    EARLIEST_TIMESTAMP: the oldest alone. No time of a record has a say. Raises StorageError.
    """
    error = partition.access_error(NO_LEADER_EPOCH, only_leader=only_leader)
    if error is not ErrorCode.NONE:
        return error
    if max_count < 0:
        return ErrorCode.UNKNOWN_SERVER_ERROR  # Kafka fails to make an array of that length
    replica = partition.replica
    bounds = replica.log.segment_bounds(partition.context.scheduler.wall_ms())
    found = _newest_first(bounds, timestamp)[:max_count]
    mark = reading.bound(replica, isolation)
    if any(offset > mark for offset in found):
        return [mark, *dropwhile(lambda offset: offset > mark, found)]
    return found


def _newest_first(bounds: list[tuple[int, int]], timestamp: int) -> list[int]:
    if timestamp == EARLIEST_TIMESTAMP:
        return [bounds[0][0]]
    newest_first = iter(reversed(bounds))
    if timestamp != LATEST_TIMESTAMP:
        newest_first = dropwhile(lambda bound: bound[1] > timestamp, newest_first)
    return [offset for offset, _ in newest_first]


def end_offset_for_epoch(
    partition: Partition, current_leader_epoch: int, leader_epoch: int
) -> EpochEndOffset:
    """Where leader_epoch, or the largest one below it, ends in this leader's log."""
    error = partition.access_error(current_leader_epoch, only_leader=True)
    if error is not ErrorCode.NONE:
        return EpochEndOffset(error, NO_LEADER_EPOCH, UNKNOWN_OFFSET)
    return reading.epoch_end(partition.replica, leader_epoch)
