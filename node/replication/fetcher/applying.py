"""What a follower does with one partition's part of a Fetch answer.

Kafka's ReplicaFetcherThread.processPartitionData and AbstractFetcherThread.truncateOnFetchResponse.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.node.journal_events import FETCHED_RECORDS_REFUSED
from logquake.node.replication.fetcher.followed import Followed
from logquake.node.replication.fetcher.truncation import truncation_offset
from logquake.node.replication.partition.partition import Partition
from logquake.seams.journal import Event
from logquake.storage.log.log import Log
from logquake.wire.messages.fetch import EpochEndOffset, PartitionData
from logquake.wire.sentinels import NO_LEADER


def apply_answer(followed: Followed, data: PartitionData) -> None:
    """Bring the log and the high watermark up to the answer. Raises RecordError, StorageError."""
    if is_diverging(data):
        _truncate(followed, data.diverging_epoch)
    else:
        _append(followed, data)


def is_diverging(data: PartitionData) -> bool:
    """Whether apply_answer() will truncate the log."""
    return data.diverging_epoch.epoch >= 0


def divergence_cuts(diverging: Iterable[tuple[Followed, PartitionData]]) -> list[tuple[Log, int]]:
    """The logs that apply_answer() will truncate, and where."""
    return [
        (followed.partition.replica.log, _cut(followed, data.diverging_epoch))
        for followed, data in diverging
    ]


def _append(followed: Followed, data: PartitionData) -> None:
    partition = followed.partition
    replica = partition.replica
    start = replica.start
    if data.records:
        if not isinstance(data.records, memoryview):
            raise TypeError(f"records of a decoded answer, not {type(data.records).__name__}")
        now_ms = partition.context.scheduler.wall_ms()
        replica.append_from_leader(data.records, now_ms, leader_start=data.log_start_offset)
        followed.follow_log()
    has_news = replica.advance_to(data.high_watermark)
    if data.log_start_offset > replica.start:
        offset = min(data.log_start_offset, replica.high_watermark)
        replica.raise_start(offset, f"that of broker {_leader_of(partition)}, which leads, did")
    if has_news or replica.start != start:
        partition.context.touched(partition)


def _truncate(followed: Followed, diverging: EpochEndOffset) -> None:
    partition = followed.partition
    partition.replica.truncate_to(
        _cut(followed, diverging),
        f"broker {_leader_of(partition)} has epoch {diverging.epoch} up to {diverging.end_offset}, "
        f"this log's last epoch was {followed.last_fetched_epoch}",
    )
    followed.follow_log()
    partition.context.touched(partition)


def _cut(followed: Followed, diverging: EpochEndOffset) -> int:
    replica = followed.partition.replica
    return truncation_offset(
        diverging.epoch,
        diverging.end_offset,
        replica.log.epochs,
        replica.end,
        replica.high_watermark,
    )


def _leader_of(partition: Partition) -> int:
    hint = partition.leader_hint()
    return hint.leader_id if hint else NO_LEADER


def journal_refused_records(followed: Followed, why: str) -> None:
    partition = followed.partition
    partition.context.journal.record(
        Event(
            FETCHED_RECORDS_REFUSED,
            partition.name,
            f"{why}; fetched from offset {followed.fetch_offset}",
            epoch=followed.leader_epoch,
        )
    )
