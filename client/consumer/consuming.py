"""The consumer as a program uses it, however its caller waits (KafkaConsumer).

A call that may wait, or that calls a function of the program, is a generator of steps for a driver;
the others need the core to themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TypeVar

from logquake.client.arguments import (
    check_listener,
    check_pattern,
    check_places,
    check_time,
    check_topics,
)
from logquake.client.consumer.calls import Calls
from logquake.client.consumer.committing import Committing
from logquake.client.consumer.core import ConsumerCore
from logquake.client.consumer.fetch.batches import StoredBatch
from logquake.client.consumer.fetch.collecting import Fetched
from logquake.client.consumer.fetch.fetch_requests import FetchRequests
from logquake.client.consumer.fetch.fetching import Fetcher
from logquake.client.consumer.fetch.statistics import FETCHING, Groups, PollStatistics
from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.group.coordination import Coordination
from logquake.client.consumer.group.listener import (
    NoListener,
    RebalanceListener,
)
from logquake.client.consumer.group.topic_watch import known_topics
from logquake.client.consumer.handing_out import HandingOut
from logquake.client.consumer.lookups import Lookups
from logquake.client.consumer.offsets import ConsumerGroupMetadata
from logquake.client.consumer.one_by_one import OneByOne
from logquake.client.consumer.records import NOTHING, ConsumerRecords
from logquake.client.consumer.seeking import Seeking
from logquake.client.consumer.subscription import Nothing, Subscriptions
from logquake.client.consumer.ungrouped import Ungrouped
from logquake.client.driving.steps import Steps, Wait
from logquake.client.errors import NotSubscribedError
from logquake.client.isolation import Isolation
from logquake.client.network.metadata import Metadata
from logquake.client.network.network_client import NetworkClient
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")


class Consuming:
    """The driver polls ``core``, and a program's loop iterates over ``one_by_one``; ``committing``,
    ``seeking`` and ``lookups`` have the rest of the calls.
    """

    def __init__(
        self,
        *,
        core: ConsumerCore,
        calls: Calls,
        subscriptions: Subscriptions,
        metadata: Metadata,
        fetcher: Fetcher,
        fetches: FetchRequests,
        group: Coordination | Ungrouped,
        one_by_one: OneByOne,
        handing_out: HandingOut,
        committing: Committing,
        seeking: Seeking,
        lookups: Lookups,
        network: NetworkClient,
        isolation: Isolation,
        request_timeout_ms: int,
    ) -> None:
        self.core = core
        self.committing = committing
        self.seeking = seeking
        self.lookups = lookups
        self.one_by_one = one_by_one
        self._calls = calls
        self._subscriptions = subscriptions
        self._metadata = metadata
        self._fetcher = fetcher
        self._fetches = fetches
        self._group = group
        self._handing_out = handing_out
        self._network = network
        self._isolation = isolation
        self._request_timeout_ms = request_timeout_ms
        self._listener: RebalanceListener = NoListener()
        self._polls = PollStatistics()
        # Until then polls return fetched records at once, unless something else has happened.
        self._attend_ms = 0

    # What is read

    def subscribe(
        self, to: Collection[str] | re.Pattern[str], listener: RebalanceListener | None
    ) -> Steps[None]:
        """Raises NoGroupError, and ValueError if partitions are assigned, or if a pattern is given
        while topics are subscribed to, or the reverse.
        """
        with self._calls.one_at_a_time():
            self._group.group_metadata()
            if isinstance(to, re.Pattern):
                check_pattern(to)
            else:
                check_topics(to)
            check_listener(listener)
            self._attend_ms = 0
            if isinstance(to, re.Pattern):
                self._subscriptions.subscribe_pattern(to, known_topics(self._metadata.snapshot))
                self._metadata.request_update_for_new_topics()
            elif topics := frozenset(to):
                self._retain(each for each in self._subscriptions.assigned if each.topic in topics)
                if self._subscriptions.subscribe(topics):
                    self._metadata.request_update_for_new_topics()
            else:
                yield from self.unsubscribe()
            self._listener = listener or NoListener()

    def assign(self, places: Collection[TopicPartition]) -> Steps[None]:
        """Replace the assignment. Raises ValueError while subscribed to topics or a pattern."""
        with self._calls.one_at_a_time():
            check_places(places)
            if not places:
                yield from self.unsubscribe()
                return
            self._group.reassigning()
            self._subscriptions.assign(places)
            self._attend_ms = 0
            self._retain(self._subscriptions.assigned)
            if not {place.topic for place in places} <= self._metadata.snapshot.topics.keys():
                self._metadata.request_update_for_new_topics()

    def unsubscribe(self) -> Steps[None]:
        """Give up topics, pattern or assigned partitions, and leave the group."""
        with self._calls.one_at_a_time():
            self._retain(())
            self._attend_ms = 0
            reason = "the consumer unsubscribed from all topics"
            try:
                yield from self._group.leave(self._listener, reason)
            finally:
                self._subscriptions.unsubscribe()

    def _retain(self, places: Iterable[TopicPartition]) -> None:
        self._fetcher.retain(frozenset(places), self._calls.now_ms())

    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset(self._subscriptions.assigned)

    def subscription(self) -> frozenset[str]:
        """Topics, including those that match the pattern; none if partitions are assigned."""
        return self._subscriptions.topics

    # Polling

    def at_hand(self, wake: Callable[[], None], taken: Taken) -> ConsumerRecords | None:
        """The records of a poll that, like most, neither waits nor calls functions of the program;
        None if `poll` has to be called instead. Raises as `poll`.

        Calls ``wake`` if the core has something to do afterwards.
        """
        now_ms = self._calls.now_ms()
        if now_ms >= self._attend_ms or not self._is_calm():
            return None
        with self._calls.one_at_a_time():
            self.one_by_one.give_back()
            self._polls.polled(now_ms)
            self._group.polled(now_ms)
            fetcher = self._fetcher
            turns, had_something = fetcher.turns, fetcher.has_something
            try:
                fetched = fetcher.collect(now_ms, taken)
            finally:
                if fetcher.turns != turns or (had_something and not fetcher.has_something):
                    wake()
            return self._handing_out.at_once(fetched.records) if fetched.records else None

    def one_at_a_time(self) -> AbstractContextManager[None]:
        """See `Calls.one_at_a_time`."""
        return self._calls.one_at_a_time()

    @property
    def has_something(self) -> bool:
        """Whether a poll has something to return."""
        return self._fetcher.has_something

    def _is_calm(self) -> bool:
        return not (
            self._handing_out.calls_programs_own
            or self._calls.is_disturbed
            or self._group.awaits_program
        )

    def poll(self, timeout_ms: int, taken: Taken) -> Steps[ConsumerRecords]:
        """Return records once there are some, or none if the time is up, or if a position only
        moved past records that no program may see.

        Raises ClientError, and what the program's listener raises.
        """
        with self._calls.one_at_a_time():
            fetched = yield from self._polled(timeout_ms, self._fetcher.collect, taken)
            return NOTHING if fetched is None else (yield from self._handing_out.steps(fetched))

    def poll_for_loop(self, timeout_ms: int) -> Steps[None]:
        """Like `poll`, but leaves the records in ``one_by_one``."""
        with self._calls.one_at_a_time():
            taken = Taken()
            try:
                records = yield from self.poll(timeout_ms, taken)
                self.one_by_one.take_in(records)
            except BaseException:
                self.one_by_one.forget()
                taken.give_back()
                raise

    def poll_batches(
        self, timeout_ms: int, taken: Taken
    ) -> Steps[Mapping[TopicPartition, list[StoredBatch]]]:
        """Like `poll`, but bypasses deserializers and interceptors."""
        with self._calls.one_at_a_time():
            fetched = yield from self._polled(timeout_ms, self._fetcher.collect_batches, taken)
            return {} if fetched is None else fetched.records

    def _polled(
        self, timeout_ms: int, collect: Callable[[int, Taken], Fetched[T]], taken: Taken
    ) -> Steps[Fetched[T] | None]:
        """None if the time is up."""
        check_time(timeout_ms)
        if isinstance(self._subscriptions.wish, Nothing):
            raise NotSubscribedError("subscribe() or assign() first: nothing is to be read")
        self.one_by_one.give_back()
        self._polls.polled(self._calls.now_ms())
        deadline_ms = self._calls.now_ms() + timeout_ms
        while True:
            # Even a poll that raises counts as a poll, and serves the group: a member whose polls
            # all fail stays in the group and delays no rebalance.
            self._group.polled(self._calls.now_ms())
            self._calls.heed_wakeup()
            yield from self._group.attend(self._listener)
            self._attend_ms = self._group.attend_again_ms(self._calls.now_ms())
            self._calls.raise_noted()
            fetched = collect(self._calls.now_ms(), taken)
            if fetched.records or fetched.advanced:
                return fetched
            if not (yield from self._wait_for_news(deadline_ms)):
                return None

    def _wait_for_news(self, deadline_ms: int) -> Steps[bool]:
        """Whether to look again."""
        has_news = yield Wait(self._has_news, min(deadline_ms, self._attend_ms))
        return has_news or self._calls.now_ms() < deadline_ms

    def _has_news(self) -> bool:
        return self._fetcher.has_something or self._calls.is_disturbed or self._group.awaits_program

    # The group, and the end

    def group_metadata(self) -> ConsumerGroupMetadata:
        """Raises NoGroupError."""
        return self._group.group_metadata()

    def enforce_rebalance(self, reason: str) -> None:
        """Raises NoGroupError."""
        with self._calls.one_at_a_time():
            self._attend_ms = 0
            self._group.enforce_rebalance(reason)

    def metrics(self) -> Groups:
        """Current values, by group and under Kafka's names."""
        now_ms = self._calls.now_ms()
        groups = self._fetcher.statistics.metrics(now_ms)
        groups |= {
            f"{FETCHING}:{place}": self._subscriptions.of(place).metrics(self._isolation)
            for place in self._subscriptions.assigned
        }
        groups["consumer-coordinator-metrics"] = self._group.metrics()
        groups["consumer-metrics"] = {
            **self._polls.metrics(now_ms),
            "requests-in-flight": self._network.links.in_flight,
            "connection-count": self._network.links.count,
            "metadata-age": (now_ms - self._metadata.updated_ms) / 1000,
        }
        return groups

    def wakeup(self) -> None:
        """See `Calls.wakeup`."""
        self._calls.wakeup()

    def close(self, timeout_ms: int) -> Steps[None]:
        """Commit if enable.auto.commit is on, leave the group, and close the fetch sessions.

        Raises what the listener raised, once all is done.
        """
        with self._calls.one_at_a_time():
            self._calls.end()
            now_ms = self._calls.now_ms()
            deadline_ms = now_ms + min(timeout_ms, self._request_timeout_ms)
            try:
                yield from self._group.close(self._listener, deadline_ms)
            finally:
                self.one_by_one.forget()
                self._fetches.close(self._calls.now_ms())
                yield Wait(lambda: self._fetches.is_closed, deadline_ms)
                yield from self._handing_out.close()
