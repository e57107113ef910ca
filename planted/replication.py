"""Bugs of leaders and followers."""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.composition import composer
from logquake.node.controller_link import ControllerRequests
from logquake.node.replication.fetcher import offset_reset
from logquake.node.replication.fetcher.fetcher import ReplicaFetcher
from logquake.node.replication.partition import leading, offsets, reading
from logquake.node.replication.partition.alter_partition import AlterPartitionManager
from logquake.node.replication.partition.isr import PendingShrink
from logquake.node.replication.partition.partition import AssignedState, Partition
from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.node.replication.partition.roles import Leader
from logquake.node.replication.purgatories import delayed_delete_records
from logquake.node.replication.values import (
    EpochEndOffset,
    FetchParams,
    FetchPartition,
    FetchResult,
)
from logquake.planted.bug import Replace
from logquake.seams.network import Channel, Disconnected
from logquake.storage.log.start import LogStart
from logquake.wire.errors import ErrorCode
from logquake.wire.schema import Message
from logquake.wire.sentinels import LATEST_TIMESTAMP, NO_LEADER_EPOCH, UNKNOWN_BROKER_EPOCH

# Truncation


def truncate_to_high_watermark(replace: Replace) -> None:
    """Before KIP-101: whoever begins to follow goes back to the high watermark that it knows."""
    become_follower = Partition.become_follower

    def become(self: Partition, state: AssignedState) -> None:
        become_follower(self, state)
        self.replica.truncate_to(self.replica.high_watermark, "it begins to follow")

    replace(Partition, "become_follower", become)


def tell_no_divergence(replace: Replace) -> None:
    """A leader does not tell a follower that its log went another way."""
    replace(reading, "_divergence", lambda _replica, _asked: None)


def count_fetches_that_diverge(replace: Replace) -> None:
    """What a follower has counts for the ISR, though it has other records there."""
    fetch = reading.fetch

    def counting(
        partition: Partition,
        params: FetchParams,
        asked: FetchPartition,
        max_bytes: int,
        *,
        min_one_batch: bool,
        first_time: bool,
    ) -> FetchResult:
        result = fetch(
            partition,
            params,
            asked,
            max_bytes,
            min_one_batch=min_one_batch,
            first_time=first_time,
        )
        leader = partition.leader
        if result.diverging_epoch is not None and leader is not None and params.replica_id >= 0:
            leading.record_follower_fetch(
                partition,
                leader,
                params.replica_id,
                min(asked.fetch_offset, partition.replica.end),
                asked.log_start_offset,
                params.replica_epoch,
            )
        return result

    replace(reading, "fetch", counting)


# What is committed, and what is acked


def ack_before_the_isr(replace: Replace) -> None:
    """acks=all is answered as acks=1."""
    replace(leading, "replicated", lambda _partition, _leader, _offset: ErrorCode.NONE)


def commit_without_followers(replace: Replace) -> None:
    """The high watermark is the end of the leader's log, whatever followers have."""
    replace(Leader, "next_high_watermark", lambda _self, log_end, *_: log_end)


def take_the_leaders_mark(replace: Replace) -> None:
    """A follower's high watermark is its leader's, though its own log does not reach so far."""
    replace(ReplicaLog, "_within_log", lambda _self, offset: offset)


def act_on_a_shrink_that_is_asked_for(replace: Replace) -> None:
    """A follower counts as gone before the controller has said so."""
    replace(PendingShrink, "maximal", property(lambda pending: pending.proposed))


def ask_for_no_min_isr(replace: Replace) -> None:
    """A lone leader acks."""
    replace(Leader, "effective_min_isr", lambda _self, _configured: 1)


# The ISR


def join_before_catching_up(replace: Replace) -> None:
    """A follower may join the ISR before it has what earlier epochs committed."""

    def may_join(leader: Leader, replica: int, _mark: int) -> bool:
        return replica not in leader.isr.committed

    replace(Leader, "may_join", may_join)


def tell_no_broker_epochs(replace: Replace) -> None:
    """A follower that was caught up may have lost its disk since."""
    replace(leading, "_broker_epoch", lambda *_: UNKNOWN_BROKER_EPOCH)


def ask_for_an_isr_once(replace: Replace) -> None:
    """A proposal whose answer was lost is forgotten, and with it every later one."""
    replace(composer, "ControllerRequests", _AskedOnce)
    replace(AlterPartitionManager, "_retry_later", lambda _self: None)


class _AskedOnce(ControllerRequests):
    def ask(
        self, request: Callable[[], Message], version: int, done: Callable[[Message], None]
    ) -> None:
        def answered(answer: Message | Disconnected) -> None:
            if not isinstance(answer, Disconnected):
                done(answer)

        def send(channel: Channel | None) -> None:
            if channel is not None:
                channel.send(request(), version, answered)

        self.find(send)


# Leader epochs that were


def answer_stale_epochs(replace: Replace) -> None:
    """Who knows of no later epoch than its own is answered, and learns of none."""
    access_error = Partition.access_error

    def answer(self: Partition, current_leader_epoch: int, *, only_leader: bool) -> ErrorCode:
        is_stale = current_leader_epoch < self.leader_epoch
        believed = NO_LEADER_EPOCH if is_stale else current_leader_epoch
        return access_error(self, believed, only_leader=only_leader)

    replace(Partition, "access_error", answer)


def tell_readers_of_no_cut(replace: Replace) -> None:
    """A reader that asks where its epoch ended is told the end of the log."""

    def end_of_log(partition: Partition, _current: int, leader_epoch: int) -> EpochEndOffset:
        return EpochEndOffset(ErrorCode.NONE, leader_epoch, partition.replica.end)

    replace(offsets, "end_offset_for_epoch", end_of_log)


# Followers that stand still


def stay_away_after_an_error(replace: Replace) -> None:
    """A follower that met an error does not go on when its back-off is over."""
    replace(ReplicaFetcher, "_on_resume_timer", lambda _self: None)


def wait_for_a_start_within_a_batch(replace: Replace) -> None:
    """A follower whose log is empty waits for a start within a batch, which never comes alone."""

    def append(replica: ReplicaLog, records: memoryview, now_ms: int, **_: int) -> None:
        replica.log.stage_as_follower(records, now_ms)
        replica.log.commit()

    replace(ReplicaLog, "append_from_leader", append)


# Where logs start


def answer_deletions_alone(replace: Replace) -> None:
    """DeleteRecords is answered as soon as the leader's log starts there."""
    replace(
        delayed_delete_records, "low_watermark", lambda partition, _leader: partition.replica.start
    )


def start_beyond_the_mark(replace: Replace) -> None:
    """A log may start where nothing is committed yet."""
    raise_to = LogStart.raise_to
    replace(LogStart, "raise_to", lambda log, offset, _mark: raise_to(log, offset, offset))


def restart_at_the_end(replace: Replace) -> None:
    """A follower whom the leader's start has passed goes on at the leader's end."""
    replace(offset_reset, "EARLIEST_TIMESTAMP", LATEST_TIMESTAMP)
