"""What a poll takes out of the fetched data (Kafka's FetchCollector).

An error for the program is raised only after the records before it were returned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from logquake.client.consumer.cluster import ClusterView
from logquake.client.consumer.fetch.buffer import FetchBuffer
from logquake.client.consumer.fetch.completed import CompletedFetch
from logquake.client.consumer.fetch.statistics import FetchStatistics
from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.settings import FetchSettings, OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.errors import (
    ClientError,
    CorruptRecordError,
    OffsetOutOfRangeError,
    broker_error,
)
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")
Take: TypeAlias = Callable[[CompletedFetch, int], list[T]]
"""Takes at most that many from one partition's share; none once it is consumed."""

# Metadata is requested, and the partition fetched again after a back-off, or from a new leader.
_LEADER_MAY_HAVE_MOVED = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)
# Fetched again after a back-off: the broker's metadata is stale, or it gives no reason.
_TRIED_AGAIN = frozenset({ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.UNKNOWN_SERVER_ERROR})


@dataclass(slots=True)
class Fetched(Generic[T]):
    """``advanced``: a position moved, if only past invisible records."""

    records: dict[TopicPartition, list[T]] = field(default_factory=dict)
    advanced: bool = False

    @property
    def count(self) -> int:
        return sum(map(len, self.records.values()))


class FetchCollector:
    """``turns`` counts responses that were used up, or that reported something other than records:
    then the fetcher has something to do.
    """

    def __init__(
        self,
        settings: FetchSettings,
        subscriptions: Subscriptions,
        cluster: ClusterView,
        buffer: FetchBuffer,
        statistics: FetchStatistics,
    ) -> None:
        self._settings = settings
        self._subscriptions = subscriptions
        self._cluster = cluster
        self._buffer = buffer
        self._statistics = statistics
        self.turns = 0

    def collect(self, now_ms: int, take: Take[T], taken: Taken) -> Fetched[T]:
        """At most max.poll.records records, or whatever else ``take`` takes.

        Raises ClientError if there is nothing to return before it.
        """
        fetched = Fetched[T]()
        paused: list[CompletedFetch] = []
        try:
            self._collect(fetched, take, taken, paused, now_ms)
        except ClientError:
            if not fetched.records and not fetched.advanced:
                raise
        finally:
            self._buffer.add(paused)
        return fetched

    def retain(self, places: Collection[TopicPartition], now_ms: int) -> None:
        """Drop data fetched from other partitions."""
        for fetch in self._buffer.retain(places):
            self._count(fetch, now_ms)

    def _collect(
        self,
        fetched: Fetched[T],
        take: Take[T],
        taken: Taken,
        paused: list[CompletedFetch],
        now_ms: int,
    ) -> None:
        while (room := self._settings.max_poll_records - fetched.count) > 0:
            current = self._buffer.current
            if current is None or current.is_consumed:
                if not self._begin_next(fetched, now_ms):
                    return
            elif self._is_paused(current.place):
                paused.append(current)
                self._buffer.current = None
            else:
                self._take(current, partial(take, current, room), fetched, taken, now_ms)

    def _begin_next(self, fetched: Fetched[T], now_ms: int) -> bool:
        """Whether there was one. A response that raises stays if it has bytes, until a seek."""
        fetch = self._buffer.first()
        if fetch is None:
            return False
        try:
            usable = fetch.is_begun or self._begin(fetch, now_ms)
        except ClientError:
            if not fetched.records and not fetch.has_bytes:
                self._buffer.remove_first()
                self._count(fetch, now_ms)
            raise
        self._buffer.current = fetch if usable else None
        if not usable:
            self._count(fetch, now_ms)
            self.turns += 1
        self._buffer.remove_first()
        return True

    def _is_paused(self, place: TopicPartition) -> bool:
        state = self._subscriptions.find(place)
        return state is not None and state.is_paused

    def _take(
        self,
        fetch: CompletedFetch,
        take: Callable[[], list[T]],
        fetched: Fetched[T],
        taken: Taken,
        now_ms: int,
    ) -> None:
        """Drops the data unless its partition is assigned, fetchable, and at its position."""
        state = self._subscriptions.find(fetch.place)
        position = state.valid_position if state is not None else None
        if state is None or not state.is_fetchable or position is None:
            self._drain(fetch, now_ms)
            return
        if position.offset != fetch.next_offset:
            self._drain(fetch, now_ms)
            return
        try:
            records = take()
        except ClientError:
            raise
        except BaseException:  # Ctrl-C: it is unknown which records were skipped
            fetch.drain()
            raise
        if records:
            fetched.records.setdefault(fetch.place, []).extend(records)
        if fetch.next_offset > position.offset:
            taken.takes(state, position)
            state.advance(fetch.next_offset, fetch.last_epoch)
            fetched.advanced = True
        if (lag := state.lag(self._settings.isolation)) is not None:
            self._statistics.lagged(lag, now_ms)
        if fetch.is_consumed:
            self._drain(fetch, now_ms)

    def _drain(self, fetch: CompletedFetch, now_ms: int) -> None:
        fetch.drain()
        self._count(fetch, now_ms)
        if fetch.count:
            self._subscriptions.to_end(fetch.place)

    def _count(self, fetch: CompletedFetch, now_ms: int) -> None:
        size_bytes = fetch.size_bytes if fetch.count else 0
        self._statistics.handed_out(fetch.tally, fetch.place.topic, fetch.count, size_bytes, now_ms)
        if not fetch.tally.shares:
            self.turns += 1

    # What a response says besides records

    def _begin(self, fetch: CompletedFetch, now_ms: int) -> bool:
        """Whether records may be taken from it. Raises ClientError."""
        state = self._subscriptions.find(fetch.place)
        if state is None or state.valid_position is None:
            return False
        error = ErrorCode.of_peer(fetch.data.error_code)
        if error is ErrorCode.NONE:
            return self._begin_good(fetch, now_ms)
        self._subscriptions.to_end(fetch.place)
        self._heed(error, fetch, now_ms)
        return False

    def _begin_good(self, fetch: CompletedFetch, now_ms: int) -> bool:
        state = self._subscriptions.of(fetch.place)
        position = state.valid_position
        if position is None or position.offset != fetch.next_offset:
            return False  # the program sought meanwhile
        self._refuse_without_a_batch(fetch)
        data = fetch.data
        if data.high_watermark >= 0:
            state.high_watermark = data.high_watermark
        if data.log_start_offset >= 0:
            state.log_start_offset = data.log_start_offset
        if data.last_stable_offset >= 0:
            state.last_stable_offset = data.last_stable_offset
        if data.preferred_read_replica >= 0:
            until_ms = now_ms + self._settings.preferred_replica_ms
            state.prefer_replica(data.preferred_read_replica, until_ms)
        fetch.is_begun = True
        return True

    def _refuse_without_a_batch(self, fetch: CompletedFetch) -> None:
        try:
            stuck = fetch.has_bytes and not fetch.has_batch
        except RecordError as error:
            raise CorruptRecordError(fetch.place, fetch.next_offset, str(error)) from error
        if stuck:
            why = "an answer with bytes and no whole batch"
            raise CorruptRecordError(fetch.place, fetch.next_offset, why)

    def _heed(self, error: ErrorCode, fetch: CompletedFetch, now_ms: int) -> None:
        """Raises ClientError for errors that the program has to handle."""
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            self._out_of_range(fetch)
            return
        if error not in _LEADER_MAY_HAVE_MOVED | _TRIED_AGAIN:
            raise broker_error(fetch.data.error_code, f"{fetch.place} at {fetch.next_offset}")
        state = self._subscriptions.of(fetch.place)
        was_nearer = False
        if error in _LEADER_MAY_HAVE_MOVED:
            self._cluster.request_update()
            was_nearer = state.forget_replica() is not None
        if not was_nearer:
            self._subscriptions.leave_alone(fetch.place, now_ms + self._settings.retry_backoff_ms)

    def _out_of_range(self, fetch: CompletedFetch) -> None:
        """A nearer replica may lag: ask the leader before believing it. By now it may be preferred
        no more, so what counts is who has answered.
        """
        state = self._subscriptions.of(fetch.place)
        state.forget_replica()
        position = state.position
        if position is None or position.offset != fetch.next_offset:
            return
        if fetch.node_id != position.leader.node_id:
            return
        if self._subscriptions.default_reset is OffsetReset.NONE:
            where = f"{fetch.place} at {position.offset}"
            raise OffsetOutOfRangeError(where, {fetch.place: position.offset})
        state.reset(self._subscriptions.default_reset)
