"""Copies partitions from one leader: one Fetch in flight, the next one as soon as it is answered.

Kafka's AbstractFetcherThread. An error rests its partition for replica.fetch.backoff.ms, and so
does a rate that throttled ones are over; a lost connection rests all. A leader that knows a later
epoch than ours (FENCED_LEADER_EPOCH) tells that LeaderAndIsr is on its way: the partition is left
alone until then.

After a leader's death every millisecond until its followers fetch from the next one is one in which
nothing is acked. So two waits of Kafka's are cut short. A leader that has not heard yet that it
leads is asked again soon, with growing pauses. And a Fetch that waits at the leader for other
partitions' records (replica.fetch.wait.max.ms) does not keep a partition with a new leader
waiting, the first time or when the leader is asked again: the connection is closed, and the next
Fetch names it. Unless the session is a large one: to open that anew costs more than to wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from logquake.node.replication.fetcher.applying import (
    apply_answer,
    divergence_cuts,
    is_diverging,
    journal_refused_records,
)
from logquake.node.replication.fetcher.followed import Followed, Phase
from logquake.node.replication.fetcher.offset_reset import OffsetReset
from logquake.node.replication.fetcher.requests import API_VERSION, FetchRequests, by_partition
from logquake.node.replication.fetcher.session import FetchSessionClient
from logquake.node.replication.fetcher.truncation import PrepareCuts, truncate_without_epochs
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.settings import ReplicationSettings
from logquake.node.replication.throttling import Throttle
from logquake.node.replication.values import PartitionKey
from logquake.seams.network import Channel, Disconnected
from logquake.seams.scheduler import Scheduler, Timer
from logquake.storage.errors import StorageError
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.messages.fetch import FetchResponse, PartitionData
from logquake.wire.schema import Message

FIRST_EPOCH = 0
_CUTS_AT_A_TIME = 25  # each truncates a file and replaces another; others are served in between
_NOT_LEADING_YET = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_LEADER_EPOCH)
_DOUBLINGS = 16


class ReplicaFetcher:
    """The channel is the fetcher's own: closing the one closes the other.

    ``on_dropped`` is told of each partition that is given up for an error, until it is added anew.
    """

    def __init__(
        self,
        broker_id: int,
        channel: Channel,
        requests: FetchRequests,
        settings: ReplicationSettings,
        scheduler: Scheduler,
        prepare_cuts: PrepareCuts,
        on_dropped: Callable[[Partition], None],
        throttle: Throttle,
    ) -> None:
        self._throttle = throttle
        self._broker_id = broker_id
        self._channel = channel
        self._requests = requests
        self._settings = settings
        self._scheduler = scheduler
        self._prepare_cuts = prepare_cuts
        self._on_dropped = on_dropped
        self._session = FetchSessionClient()
        self._followed: dict[PartitionKey, Followed] = {}
        self._resting: dict[Followed, None] = {}
        self._in_flight = False
        self._is_cutting = False  # logs that parted from the leader's, some in a pass of the loop
        self._closed = False
        self._resume_timer: Timer | None = None
        self._resume_timer_ms = 0
        self._hurry_timer: Timer | None = None
        self._given_up = False

    @property
    def is_idle(self) -> bool:
        return not self._followed

    def has(self, key: PartitionKey) -> bool:
        return key in self._followed

    def partitions(self) -> list[Followed]:
        return list(self._followed.values())

    def begin(self, partition: Partition) -> None:
        """Copy this partition from now on. A disk that fails takes it offline."""
        try:
            truncate_without_epochs(partition.replica)
        except StorageError as error:
            partition.go_offline(str(error))
        else:
            partition.context.touched(partition)
            self.add(partition)
            if partition.leader_epoch > FIRST_EPOCH:
                self._hurry()

    def add(self, partition: Partition) -> None:
        """Copy this partition from the end of its log, in its present leader epoch."""
        followed = Followed(partition)
        self._followed[followed.key] = followed
        self._session.want(followed)

    def remove(self, key: PartitionKey) -> None:
        followed = self._followed.pop(key, None)
        if followed is not None:
            self._resting.pop(followed, None)
            self._session.drop(key)

    def close(self) -> None:
        self._closed = True
        self._cancel_hurry()
        if self._resume_timer is not None:
            self._resume_timer.cancel()
        self._channel.close()

    def fetch_next(self) -> None:
        """Send the next Fetch unless one is in flight or there is nothing to ask."""
        if self._in_flight or self._is_cutting or self._closed:
            return
        request = self._session.next_request()
        if request is not None:
            self._in_flight = True
            self._channel.send(self._requests.build(request), API_VERSION, self._on_response)

    def _on_response(self, response: Message | Disconnected) -> None:
        self._in_flight = False
        if self._closed:
            return
        self._cancel_hurry()
        if isinstance(response, FetchResponse):
            self._on_answer(response)
        else:
            self._on_lost()
        self._given_up = False
        self.fetch_next()

    def _on_lost(self) -> None:
        self._session.on_lost()
        if not self._given_up:
            for followed in self._followed.values():
                self._rest(followed)

    def _hurry(self) -> None:
        """A partition has a new leader, or asks it again: so long has what is in flight to answer.

        From the last of many on, which come in pieces: what replaces it names all partitions.
        """
        if (
            self._in_flight
            and self._session.partition_count <= self._settings.new_leader_fetch_partitions_max
        ):
            self._cancel_hurry()
            wait_ms = self._settings.new_leader_fetch_wait_ms
            self._hurry_timer = self._scheduler.call_later(wait_ms, self._give_up)

    def _cancel_hurry(self) -> None:
        if self._hurry_timer is not None:
            self._hurry_timer.cancel()
            self._hurry_timer = None

    def _give_up(self) -> None:
        self._hurry_timer = None
        self._given_up = True
        self._channel.close()

    def _on_answer(self, response: FetchResponse) -> None:
        data = by_partition(response)
        if not self._session.on_answer(
            ErrorCode.of_peer(response.error_code), response.session_id, data.keys()
        ):
            return
        diverging: list[tuple[Followed, PartitionData]] = []
        for key, partition_data in data.items():
            followed = self._followed.get(key)
            if followed is not None and followed.expects_answer():
                if is_diverging(partition_data):
                    diverging.append((followed, partition_data))
                else:
                    self._on_partition(followed, partition_data)
        if diverging:
            self._prepare_cuts(divergence_cuts(diverging))
            self._is_cutting = True
            self._cut_some(iter(diverging))

    def _cut_some(self, rest: Iterator[tuple[Followed, PartitionData]]) -> None:
        """The next Fetch waits until the last log is cut: the leader would tell the same again."""
        some = [] if self._closed else list(islice(rest, _CUTS_AT_A_TIME))
        for followed, partition_data in some:
            if self._followed.get(followed.key) is followed:  # else its directory has failed
                self._on_partition(followed, partition_data)
        self._is_cutting = len(some) == _CUTS_AT_A_TIME
        if self._is_cutting:
            self._scheduler.call_later(0, lambda: self._cut_some(rest))
        else:
            self.fetch_next()

    def _on_partition(self, followed: Followed, data: PartitionData) -> None:
        if data.error_code == ErrorCode.NONE:
            self._apply(followed, data)
        elif data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._reset_offset(followed)
        elif data.error_code == ErrorCode.FENCED_LEADER_EPOCH:
            self._drop(followed)
        elif data.error_code in _NOT_LEADING_YET:
            first_ms = self._settings.new_leader_fetch_backoff_ms
            self._rest(followed, first_ms << min(followed.rests, _DOUBLINGS))
            followed.rests += 1
        else:
            self._rest(followed)

    def _apply(self, followed: Followed, data: PartitionData) -> None:
        try:
            apply_answer(followed, data)
        except StorageError as error:
            followed.partition.go_offline(str(error))
            self._drop(followed)
        except RecordError as error:
            # It may have been damaged on the way: fetch it again after a rest.
            journal_refused_records(followed, str(error))
            self._rest(followed)
        else:
            if self._throttle.is_set and self._holds_back(followed, data):
                self._rest(followed)
            elif followed.has_moved():
                self._session.want(followed)

    def _holds_back(self, followed: Followed, data: PartitionData) -> bool:
        """Records count; who is behind waits for its next while they were too many."""
        if followed.is_throttled:
            self._throttle.record(len(data.records or b""))
        followed.is_behind = followed.fetch_offset < data.high_watermark
        return self._waits(followed)

    def _waits(self, followed: Followed) -> bool:
        """RemoteLeaderEndPoint.shouldFollowerThrottle."""
        throttle = self._throttle
        return (
            followed.is_behind
            and throttle.is_set
            and followed.is_throttled
            and throttle.is_exceeded
        )

    def _reset_offset(self, followed: Followed) -> None:
        def is_current() -> bool:
            return not self._closed and self._followed.get(followed.key) is followed

        def done(error: ErrorCode) -> None:
            if error is ErrorCode.NONE:
                followed.follow_log()
                self._resume(followed)
            elif error in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.KAFKA_STORAGE_ERROR):
                self._drop(followed)
            else:
                self._rest(followed)
            self.fetch_next()

        followed.phase = Phase.RESETTING
        self._session.drop(followed.key)
        OffsetReset(self._broker_id, self._channel, followed, is_current, done).start()

    def _drop(self, followed: Followed) -> None:
        self.remove(followed.key)
        self._on_dropped(followed.partition)

    def _rest(self, followed: Followed, pause_ms: int | None = None) -> None:
        """For replica.fetch.backoff.ms, or less."""
        if followed.phase is Phase.RESTING:
            return
        longest_ms = self._settings.replica_fetch_backoff_ms
        pause_ms = longest_ms if pause_ms is None else min(pause_ms, longest_ms)
        followed.rest_until(self._scheduler.now_ms() + pause_ms)
        self._resting[followed] = None
        self._session.drop(followed.key)
        self._wake_at(followed.resume_at_ms)

    def _resume(self, followed: Followed) -> None:
        self._resting.pop(followed, None)
        followed.phase = Phase.FETCHING
        self._session.want(followed)

    def _wake_at(self, at_ms: int) -> None:
        """One timer, for whoever has rested first."""
        if self._resume_timer is not None:
            if self._resume_timer_ms <= at_ms:
                return
            self._resume_timer.cancel()
        self._resume_timer_ms = at_ms
        delay_ms = at_ms - self._scheduler.now_ms()
        self._resume_timer = self._scheduler.call_later(delay_ms, self._on_resume_timer)

    def _on_resume_timer(self) -> None:
        self._resume_timer = None
        now_ms = self._scheduler.now_ms()
        for followed in [each for each in self._resting if each.resume_at_ms <= now_ms]:
            if self._waits(followed):
                followed.rest_until(now_ms + self._settings.replica_fetch_backoff_ms)
                continue
            self._resume(followed)
            if followed.rests:
                self._hurry()
        if self._resting:
            self._wake_at(min(each.resume_at_ms for each in self._resting))
        self.fetch_next()
