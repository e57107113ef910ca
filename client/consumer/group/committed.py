"""A group's committed offsets, and where its consumer starts from them (ConsumerCoordinator's
OffsetFetch, ConsumerUtils.refreshCommittedOffsets).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from random import Random

from logquake.client.consumer.cluster import leader_of
from logquake.client.consumer.group import commit_requests
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.group_cluster import GroupCluster
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.consumer.partition_state import Initializing
from logquake.client.consumer.position import FetchPosition
from logquake.client.consumer.settings import OffsetReset
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.errors import (
    ClientError,
    ConnectionLostError,
    MalformedResponseError,
    NoOffsetForPartitionError,
    broker_error,
)
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.link import Answer
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import OffsetFetchResponse
from logquake.wire.topic_partition import TopicPartition


class Lookup:
    """One OffsetFetch: what it found, or its error, once it is done."""

    def __init__(self, places: Collection[TopicPartition]) -> None:
        self.places = tuple(places)
        self.is_done = False
        self.found: Mapping[TopicPartition, OffsetAndMetadata | None] = {}
        self.error: ClientError | None = None


class CommittedOffsets:
    def __init__(self, settings: GroupSettings, coordinator: Coordinator) -> None:
        self._settings = settings
        self._coordinator = coordinator

    def ask(self, places: Collection[TopicPartition]) -> Lookup:
        """The coordinator must be known."""
        lookup = Lookup(places)
        done = partial(self._on_answer, lookup)
        self._coordinator.ask(commit_requests.fetch(self._settings.group_id, lookup.places, done))
        return lookup

    def _on_answer(self, lookup: Lookup, answer: Answer, now_ms: int) -> None:
        lookup.is_done = True
        if isinstance(answer, OffsetFetchResponse):
            told = commit_requests.fetched(answer, self._settings.group_id)
            lookup.error = self._failure(answer, told.keys() >= set(lookup.places), now_ms)
            lookup.found = {} if lookup.error else {place: told[place] for place in lookup.places}
        else:
            lost = ConnectionLostError("no answer")
            lookup.error = answer if isinstance(answer, ClientError) else lost

    def _failure(
        self, answer: OffsetFetchResponse, is_whole: bool, now_ms: int
    ) -> ClientError | None:
        group_id = self._settings.group_id
        what = f"committed offsets of group {group_id}"
        code = commit_requests.fetch_error(answer, group_id)
        if code is not ErrorCode.NONE:
            error = broker_error(code, what)
            self._coordinator.heed(code, str(error), now_ms)
            return error
        failed = commit_requests.first_unfetched(answer, group_id)
        if failed is None:
            return None if is_whole else MalformedResponseError(f"{what}: not of all partitions")
        error = broker_error(failed.code, f"{what}: {failed.what}")
        # The topic does not exist: a retry would get the same error.
        error.retriable &= failed.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return error


class Beginnings:
    """Where partitions without a position start: at the committed offset, or else as
    auto.offset.reset says.
    """

    def __init__(
        self,
        settings: GroupSettings,
        coordinator: Coordinator,
        committed: CommittedOffsets,
        cluster: GroupCluster,
        subscriptions: Subscriptions,
        random: Random,
    ) -> None:
        self._coordinator = coordinator
        self._committed = committed
        self._cluster = cluster
        self._subscriptions = subscriptions
        self._backoff = ExponentialBackoff(
            settings.retry_backoff_ms, settings.retry_backoff_max_ms, random
        )
        self._looked_after = -1  # the number of assignments
        self._asked: Lookup | None = None
        self._wanted: set[TopicPartition] = set()
        self._failures = 0
        self._not_before_ms = 0
        self.failure: ClientError | None = None  # not raised to the program yet

    def want(self, place: TopicPartition) -> None:
        """The program waits for its position, maybe in the listener for its assignment."""
        if isinstance(self._subscriptions.of(place).fetch_state, Initializing):
            self._wanted.add(place)
            self._looked_after = -1

    def check(self) -> None:
        """Raises why some have no position, once; then looks again."""
        failure, self.failure = self.failure, None
        if failure is None:
            return
        self._looked_after = -1
        if isinstance(failure, NoOffsetForPartitionError):
            failure = self._still_lacking(failure)
        if failure is not None:
            raise failure

    def _still_lacking(self, told: NoOffsetForPartitionError) -> ClientError | None:
        """The error without partitions to which the program has since sought."""
        missing = self._subscriptions.initializing()
        places = [place for place in told.places if place in missing]
        return NoOffsetForPartitionError(places) if places else None

    def poll(self, now_ms: int) -> None:
        if self._asked is not None and self._asked.is_done:
            asked, self._asked = self._asked, None
            self._take(asked, now_ms)
        if self._asked is not None or self.failure is not None or self._not_before_ms > now_ms:
            return
        if self._looked_after != self._subscriptions.assignments:
            self._look()

    def next_due_ms(self, now_ms: int) -> int | None:
        return self._not_before_ms if self._not_before_ms > now_ms else None

    def _look(self) -> None:
        places = self._missing()
        if places and not self._coordinator.find():
            return
        self._looked_after = self._subscriptions.assignments
        if places:
            self._asked = self._committed.ask(places)

    def _missing(self) -> list[TopicPartition]:
        """Except newly assigned ones before the listener has run: it may seek."""
        of, wanted = self._subscriptions.of, self._wanted
        return sorted(
            place
            for place in self._subscriptions.initializing()
            if place in wanted or not of(place).awaits_callback
        )

    def _take(self, lookup: Lookup, now_ms: int) -> None:
        if lookup.error is None:
            self._failures = 0
            self._begin(lookup.found)
        elif lookup.error.retriable:
            self._not_before_ms = now_ms + self._backoff.after(self._failures)
            self._failures += 1
            self._looked_after = -1
        else:
            self.failure = lookup.error

    def _begin(self, found: Mapping[TopicPartition, OffsetAndMetadata | None]) -> None:
        """Partitions that are no longer assigned, or have a position since, are left alone."""
        lacking = []
        self._wanted.difference_update(found)
        for place, committed in found.items():
            state = self._subscriptions.find(place)
            if state is None or not isinstance(state.fetch_state, Initializing):
                continue
            if committed is not None:
                self._cluster.saw_epoch(place, committed.leader_epoch)
                leader = leader_of(self._cluster.snapshot, place)
                position = FetchPosition(committed.offset, committed.leader_epoch, leader)
                state.seek(position, validate=True)
            elif self._subscriptions.default_reset is OffsetReset.NONE:
                lacking.append(place)
            else:
                state.reset(self._subscriptions.default_reset)
        if lacking:
            self.failure = NoOffsetForPartitionError(lacking)
