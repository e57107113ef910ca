"""What a consumer wants to read, and what it reads (Kafka's SubscriptionState).

It subscribes to topics or a pattern, and its group assigns partitions; or the program assigns
partitions. Never both: the group would revoke what the program assigned.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Set
from dataclasses import dataclass

from logquake.client.consumer.partition_state import (
    AwaitReset,
    AwaitValidation,
    Initializing,
    PartitionState,
)
from logquake.client.consumer.position import (
    EpochEnd,
    FetchPosition,
    LeaderAndEpoch,
    LogTruncation,
)
from logquake.client.consumer.settings import OffsetReset
from logquake.client.errors import NoOffsetForPartitionError, NotAssignedError
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Nothing:
    """Neither subscribed nor assigned."""


@dataclass(frozen=True, slots=True)
class ToTopics:
    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class ToPattern:
    """`topics` are the known ones whose whole name matches."""

    pattern: re.Pattern[str]
    topics: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ToPartitions:
    """Partitions that the program assigned."""


Wish = Nothing | ToTopics | ToPattern | ToPartitions


class Subscriptions:
    """Partitions are iterated round robin: one that was served moves to the end."""

    def __init__(self, default_reset: OffsetReset) -> None:
        self.default_reset = default_reset
        self.wish: Wish = Nothing()
        self.assignments = 0  # a counter: a change means that there may be new partitions
        self._of_group: frozenset[str] = frozenset()
        self._assigned: OrderedDict[TopicPartition, PartitionState] = OrderedDict()
        self._all_free_ms = 0  # by then no partition backs off

    # What is wanted

    def subscribe(self, topics: Collection[str]) -> bool:
        """Returns whether that is new. Raises ValueError after `assign` or with a pattern."""
        self._refuse_unless(ToTopics)
        before, self.wish = self.wish, ToTopics(frozenset(topics))
        return before != self.wish

    def subscribe_pattern(self, pattern: re.Pattern[str], known: Iterable[str]) -> None:
        """``known`` topics that match are subscribed to at once.

        Raises ValueError after `assign`, or if topics are subscribed to.
        """
        self._refuse_unless(ToPattern)
        self.wish = ToPattern(pattern)
        self.match(known)

    def match(self, topics: Iterable[str]) -> bool:
        """Match against the existing topics. Returns whether the matching ones changed."""
        if not isinstance(self.wish, ToPattern):
            raise ValueError("no pattern is subscribed to")
        pattern, before = self.wish.pattern, self.wish.topics
        matching = frozenset(topic for topic in topics if pattern.fullmatch(topic))
        self.wish = ToPattern(pattern, matching)
        return matching != before

    def unsubscribe(self) -> None:
        self.wish = Nothing()
        self._of_group = frozenset()
        self._assigned = OrderedDict()

    @property
    def topics(self) -> frozenset[str]:
        """The subscribed topics; none if the program assigned partitions."""
        return self.wish.topics if isinstance(self.wish, ToTopics | ToPattern) else frozenset()

    @property
    def is_of_group(self) -> bool:
        """Whether the group assigns the partitions."""
        return isinstance(self.wish, ToTopics | ToPattern)

    def group_wants(self, topics: Iterable[str]) -> bool:
        """A group's leader must know all members' topics. Returns whether some are new to it."""
        self._of_group = frozenset(topics)
        return not self._of_group <= self.topics

    def leads_no_more(self) -> None:
        self._of_group = frozenset()

    @property
    def metadata_topics(self) -> frozenset[str]:
        """The topics whose metadata is wanted."""
        return self.topics | self._of_group | {place.topic for place in self._chosen()}

    def _chosen(self) -> Iterable[TopicPartition]:
        return self._assigned if isinstance(self.wish, ToPartitions) else ()

    def _refuse_unless(self, kind: type[ToTopics | ToPattern | ToPartitions]) -> None:
        if not isinstance(self.wish, kind | Nothing):
            raise ValueError(
                "topics, a pattern and partitions exclude each other: unsubscribe() first"
            )

    # What is assigned

    def assign(self, places: Collection[TopicPartition]) -> None:
        """For the program. Partitions that were assigned before keep their positions."""
        self._refuse_unless(ToPartitions)
        self.wish = ToPartitions()
        if self._assigned.keys() != set(places):
            self._set(places)

    def is_wanted(self, places: Iterable[TopicPartition]) -> bool:
        """Whether all topics in a group's assignment are still subscribed to."""
        if isinstance(self.wish, ToPattern):
            pattern = self.wish.pattern
            return all(pattern.fullmatch(place.topic) for place in places)
        return all(place.topic in self.topics for place in places)

    def assign_from_group(self, places: Collection[TopicPartition]) -> None:
        """Do not fetch new partitions before `callback_done`: the program may seek first."""
        if not self.is_of_group:
            raise ValueError("a group assigns nothing to who chose partitions")
        added = set(places).difference(self._assigned)
        self._set(places)
        for place in added:
            self._assigned[place].awaits_callback = True

    def callback_done(self, places: Iterable[TopicPartition]) -> None:
        for place in places:
            self.of(place).awaits_callback = False
        self.assignments += 1

    def being_revoked(self, places: Iterable[TopicPartition]) -> None:
        """Return no more of their records."""
        for place in places:
            self.of(place).is_being_revoked = True

    def _set(self, places: Iterable[TopicPartition]) -> None:
        self.assignments += 1
        states = self._assigned
        self._assigned = OrderedDict(
            (place, states.get(place, PartitionState())) for place in sorted(places)
        )

    @property
    def assigned(self) -> Set[TopicPartition]:
        return self._assigned.keys()

    def of(self, place: TopicPartition) -> PartitionState:
        """Raises NotAssignedError."""
        try:
            return self._assigned[place]
        except KeyError:
            raise NotAssignedError(f"{place} is not assigned to this consumer") from None

    def find(self, place: TopicPartition) -> PartitionState | None:
        """Like `of`, for responses: their partition may no longer be assigned."""
        return self._assigned.get(place)

    def to_end(self, place: TopicPartition) -> None:
        """The partition was served, or cannot be."""
        if place in self._assigned:
            self._assigned.move_to_end(place)  # in one step: it is assigned whatever comes

    def fetchable(self, now_ms: int) -> list[TopicPartition]:
        return [place for place, state in self._assigned.items() if state.may_be_fetched(now_ms)]

    def leave_alone(self, place: TopicPartition, until_ms: int) -> None:
        """See `PartitionState.leave_alone`. Raises NotAssignedError."""
        self.of(place).leave_alone(until_ms)
        self._all_free_ms = max(self._all_free_ms, until_ms)

    def next_fetch_ms(self, now_ms: int) -> int | None:
        """When the next back-off of a partition ends; None without one, which is nearly always, and
        takes no look at each partition.
        """
        if self._all_free_ms <= now_ms:
            return None
        due = (state.fetched_again_ms(now_ms) for state in self._assigned.values())
        return min((each for each in due if each is not None), default=None)

    # Where it is read

    def consumed(self) -> dict[TopicPartition, FetchPosition]:
        """The positions that a commit without arguments commits."""
        return {
            place: position
            for place, state in self._assigned.items()
            if (position := state.seen) is not None
        }

    def initializing(self) -> set[TopicPartition]:
        return {
            place
            for place, state in self._assigned.items()
            if isinstance(state.fetch_state, Initializing)
        }

    def reset_initializing(self) -> None:
        """They have no committed offset. Raises NoOffsetForPartitionError without a policy."""
        places = self.initializing()
        if self.default_reset is not OffsetReset.NONE:
            for place in places:
                self.of(place).reset(self.default_reset)
        elif places:
            raise NoOffsetForPartitionError(sorted(places))

    def needing_reset(self, now_ms: int) -> dict[TopicPartition, OffsetReset]:
        return {
            place: state.fetch_state.policy
            for place, state in self._assigned.items()
            if isinstance(state.fetch_state, AwaitReset) and state.fetch_state.retry_at_ms <= now_ms
        }

    def needing_validation(self, now_ms: int) -> dict[TopicPartition, FetchPosition]:
        return {
            place: state.fetch_state.position
            for place, state in self._assigned.items()
            if isinstance(state.fetch_state, AwaitValidation)
            and state.fetch_state.retry_at_ms <= now_ms
        }

    def retry_at(self, places: Iterable[TopicPartition], at_ms: int) -> None:
        """A request for them failed, or will be considered failed by then."""
        for place in places:
            state = self.find(place)
            if state is not None:
                state.retry_at(at_ms)

    def next_retry_ms(self, now_ms: int) -> int | None:
        """When the next reset or validation may be retried; None if none is waiting."""
        due = (
            state.fetch_state.retry_at_ms
            for state in self._assigned.values()
            if isinstance(state.fetch_state, AwaitReset | AwaitValidation)
            and state.fetch_state.retry_at_ms > now_ms
        )
        return min(due, default=None)

    def was_reset(
        self, place: TopicPartition, policy: OffsetReset, position: FetchPosition
    ) -> None:
        """Take in a response, unless the program has since sought or asked for another reset."""
        state = self.find(place)
        if state is None or not isinstance(state.fetch_state, AwaitReset):
            return
        if state.fetch_state.policy is policy:
            state.seek(position, validate=True)

    def validated(
        self, place: TopicPartition, asked: FetchPosition, end: EpochEnd
    ) -> LogTruncation | None:
        """Take in where the leader says the epoch of `asked` ends. Returns a truncation to report.

        With a reset policy the partition continues by itself where the logs diverge, or, if that is
        unknown, as the policy says.
        """
        state = self.find(place)
        if state is None or not isinstance(state.fetch_state, AwaitValidation):
            return None
        if state.fetch_state.position != asked:
            return None  # the program sought, or the leader changed, since
        if not end.is_undefined and end.end_offset >= asked.offset:
            state.seek(asked)
        elif self.default_reset is OffsetReset.NONE:
            return LogTruncation(place, asked, None if end.is_undefined else end)
        elif end.is_undefined:
            state.reset(self.default_reset)
        else:
            state.seek(FetchPosition(end.end_offset, end.epoch, asked.leader))
        return None

    def follow_leaders(
        self,
        leader_of: Callable[[TopicPartition], LeaderAndEpoch],
        can_validate: Callable[[int], bool],
    ) -> None:
        """Call on new metadata (OffsetsRequestManager.validatePositionsOnMetadataChange)."""
        for place, state in self._assigned.items():
            leader = leader_of(place)
            state.follow(leader, can_validate=can_validate(leader.node_id))
