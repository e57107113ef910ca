"""Reading a partition: for followers up to the log's end, for consumers up to what is committed.

Follows Kafka 3.9's Partition.fetchRecords, readRecords, fetchOffsetForTimestamp and
lastOffsetForLeaderEpoch. Nothing here waits; purgatories/delayed_fetch.py does.
"""

from __future__ import annotations

from logquake.node.replication.partition import leading
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.node.replication.partition.roles import Leader
from logquake.node.replication.values import (
    EpochEndOffset,
    FetchParams,
    FetchPartition,
    FetchResult,
    Isolation,
)
from logquake.storage.log.slice import LogSlice
from logquake.storage.segments.txn_index import AbortedTransaction
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_LEADER_EPOCH, UNKNOWN_OFFSET

_UNDEFINED_END = EpochEndOffset(ErrorCode.NONE, NO_LEADER_EPOCH, UNKNOWN_OFFSET)


def fetch(
    partition: Partition,
    params: FetchParams,
    asked: FetchPartition,
    max_bytes: int,
    *,
    min_one_batch: bool,
    first_time: bool,
) -> FetchResult:
    """Read at most max_bytes (a first larger batch is allowed with min_one_batch).

    A follower's progress is taken in only the first time: a request that waited must not count
    as a sign of life at the time of its answer. Raises StorageError, RecordError.
    """
    error = partition.access_error(asked.current_leader_epoch, only_leader=params.only_leader)
    if error is not ErrorCode.NONE:
        return refuse(partition, error)
    leader = partition.leader
    replica_id = params.replica_id
    if replica_id >= 0:
        error = _follower_error(leader, params, asked)
        if error is not ErrorCode.NONE:
            return refuse(partition, error)
    replica = partition.replica
    is_within = replica.start <= asked.fetch_offset <= replica.end
    if asked.last_fetched_epoch >= 0 and not (
        is_within and asked.last_fetched_epoch == replica.latest_epoch
    ):
        diverging = _divergence(replica, asked)
        if diverging is not None:
            return _diverging_result(partition, diverging)
    if not is_within:
        return refuse(partition, ErrorCode.OFFSET_OUT_OF_RANGE)
    if replica_id >= 0 and first_time and leader is not None:
        leading.record_follower_fetch(
            partition,
            leader,
            replica_id,
            asked.fetch_offset,
            asked.log_start_offset,
            params.replica_epoch,
        )
    records = _read(replica, params.isolation, asked.fetch_offset, max_bytes, min_one_batch)
    return FetchResult(
        ErrorCode.NONE,
        replica.high_watermark,
        replica.last_stable_offset,
        replica.start,
        records,
        _aborted(replica, params.isolation, asked.fetch_offset, records),
        is_final=records is None and _is_final(partition, params, asked.fetch_offset),
    )


def has_news(partition: Partition, params: FetchParams, asked: FetchPartition) -> bool:
    """Whether a fetch that found nothing more here is worth another read.

    It is looked at each time the partition changes, so by offsets alone, as in Kafka
    (DelayedFetch.tryComplete). A high watermark that moved is no news for a follower that has
    everything: it is told when the fetch is answered.
    """
    error = partition.access_error(asked.current_leader_epoch, only_leader=params.only_leader)
    if error is not ErrorCode.NONE:
        return True
    replica, offset = partition.replica, asked.fetch_offset
    return bound(replica, params.isolation) > offset or not replica.start <= offset <= replica.end


def refuse(partition: Partition, error: ErrorCode) -> FetchResult:
    return FetchResult(error, current_leader=partition.leader_hint())


_BUILT_ELSEWHERE = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
)


def refuse_unlocated(error: ErrorCode) -> FetchResult:
    """Where there is no partition here. Of what nobody knows, or may not read, Kafka's list of
    aborted transactions is empty, not null: that answer is built in another place.
    """
    return FetchResult(error, aborted=() if error in _BUILT_ELSEWHERE else None)


def bound(replica: ReplicaLog, isolation: Isolation) -> int:
    """The offset at which a read of this isolation must end."""
    if isolation is Isolation.LOG_END:
        return replica.end
    if isolation is Isolation.TXN_COMMITTED:
        return replica.last_stable_offset
    return replica.high_watermark


def _read(
    replica: ReplicaLog, isolation: Isolation, offset: int, max_bytes: int, min_one_batch: bool
) -> LogSlice | None:
    up_to = bound(replica, isolation)
    if offset >= up_to or (max_bytes <= 0 and not min_one_batch):
        return None
    records = replica.log.read(offset, max_bytes, up_to=up_to, min_one_batch=min_one_batch)
    return records if records.size else None


def _is_final(partition: Partition, params: FetchParams, offset: int) -> bool:
    """Whether the reader gets the same until the partition is touched.

    Not where only the response had no room, nor for a follower outside the ISR: each of its
    fetches is another occasion to join, which brokers' comings and goings decide as well. Nor
    where another session of the same follower told another position since.
    """
    if offset < bound(partition.replica, params.isolation):
        return False
    if params.replica_id < 0:
        return True
    leader = partition.leader
    return (
        leader is not None
        and params.replica_id in leader.isr.maximal
        and leader.followers[params.replica_id].log_end == offset
    )


def _aborted(
    replica: ReplicaLog, isolation: Isolation, offset: int, records: LogSlice | None
) -> list[AbortedTransaction] | None:
    if isolation is not Isolation.TXN_COMMITTED:
        return None
    return replica.log.aborted_in(offset, records) if records is not None else []


def _follower_error(leader: Leader | None, params: FetchParams, asked: FetchPartition) -> ErrorCode:
    if leader is None:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    progress = leader.followers.get(params.replica_id)
    if progress is None:
        # The assignment here and there differ: with an epoch the follower can wait for ours.
        return (
            ErrorCode.UNKNOWN_LEADER_EPOCH
            if asked.current_leader_epoch >= 0
            else ErrorCode.NOT_LEADER_OR_FOLLOWER
        )
    if progress.is_stale(params.replica_epoch):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.NONE


def _divergence(replica: ReplicaLog, asked: FetchPartition) -> EpochEndOffset | ErrorCode | None:
    """Where the reader's log parts from this one, if it does (KIP-595's DivergingEpoch).

    None if the reader's last epoch ends here at or after its fetch offset.
    """
    offset, epoch = asked.fetch_offset, asked.last_fetched_epoch
    end = epoch_end(replica, epoch)
    if end is _UNDEFINED_END or offset < replica.start:
        return ErrorCode.OFFSET_OUT_OF_RANGE
    if end.leader_epoch < epoch or end.end_offset < offset:
        return end
    return None


def _diverging_result(partition: Partition, divergence: EpochEndOffset | ErrorCode) -> FetchResult:
    if isinstance(divergence, ErrorCode):
        return refuse(partition, divergence)
    replica = partition.replica
    return FetchResult(
        ErrorCode.NONE,
        replica.high_watermark,
        replica.last_stable_offset,
        replica.start,
        diverging_epoch=divergence,
    )


def epoch_end(replica: ReplicaLog, leader_epoch: int) -> EpochEndOffset:
    """The end of the largest epoch at or below leader_epoch; neither if there is none."""
    epoch, end_offset = replica.log.epochs.end_offset_for(leader_epoch, replica.end)
    if epoch < 0 or end_offset < 0:
        return _UNDEFINED_END
    return EpochEndOffset(ErrorCode.NONE, epoch, end_offset)
