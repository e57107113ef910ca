"""A consumer's membership, and its commits (ConsumerCoordinator, AbstractCoordinator).

Two parties drive it. The driver polls it as a core: it finds the coordinator, joins, syncs, sends
heartbeats, leaves when the program does not poll for too long, sends commits, and fetches committed
offsets. The program's calls are Steps, and they alone change the assignment, and call the listener,
since the program may use its partitions until it polls again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random

from logquake.client.clock import Clock
from logquake.client.consumer.assignors.assignor import Assignor
from logquake.client.consumer.group.assigning import Assigning
from logquake.client.consumer.group.automatic import AutoCommit, BeforeRebalance
from logquake.client.consumer.group.commits import Commits
from logquake.client.consumer.group.committed import Beginnings, CommittedOffsets
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.coordinator_calls import CoordinatorCalls
from logquake.client.consumer.group.election import Election
from logquake.client.consumer.group.errands import Beside
from logquake.client.consumer.group.freshness import Freshness
from logquake.client.consumer.group.group_cluster import GroupCluster
from logquake.client.consumer.group.heartbeat import Heartbeat
from logquake.client.consumer.group.joining import JoiningGroup
from logquake.client.consumer.group.keeping_alive import KeepingAlive
from logquake.client.consumer.group.listener import (
    CommitCallback,
    Offsets,
    RebalanceListener,
    unheard,
)
from logquake.client.consumer.group.membership import Membership
from logquake.client.consumer.group.rebalancing import Rebalancing
from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.group.statistics import GroupEvent, GroupStatistics
from logquake.client.consumer.group.topic_watch import TopicWatch
from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.driving.steps import Steps
from logquake.client.network.network_client import NetworkClient
from logquake.wire.topic_partition import TopicPartition


class Coordination:
    """For a consumer that has a group.id, whether it subscribes or only commits.

    ``beside`` calls assignors while nobody holds the core.
    ``on_commit`` is called with committed offsets, in the program's calls, for interceptors.
    ``on_event`` is called while the core is polled, and must pass the event on.
    Raises ValueError for assignors without a common rebalance protocol, or with the same name.
    """

    def __init__(
        self,
        settings: GroupSettings,
        network: NetworkClient,
        cluster: GroupCluster,
        subscriptions: Subscriptions,
        assignors: Sequence[Assignor],
        clock: Clock,
        random: Random,
        *,
        beside: Beside,
        on_commit: Callable[[Offsets], object] = lambda _: None,
        on_event: Callable[[GroupEvent], object] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._subscriptions = subscriptions
        self._clock = clock
        self._statistics = GroupStatistics(on_event)
        self._heartbeat = Heartbeat(settings, random)
        self._coordinator = Coordinator(settings, network, cluster, self._statistics, random)
        self._watch = TopicWatch(subscriptions, cluster, heeds_racks=bool(settings.rack))
        election = Election(subscriptions, cluster, self._watch, assignors)
        self._membership = Membership(
            settings, self._coordinator, self._watch, self._heartbeat, self._statistics
        )
        self._assigning = Assigning(
            settings, self._coordinator, self._membership, election, self._statistics, beside
        )
        self._joining = JoiningGroup(
            settings,
            self._coordinator,
            self._membership,
            subscriptions,
            self._watch,
            assignors,
            self._assigning,
            self._heartbeat,
            self._statistics,
            beside,
        )
        self._keeping_alive = KeepingAlive(
            settings, self._coordinator, self._membership, self._heartbeat, self._statistics
        )
        self._commits = Commits(
            settings, self._coordinator, self._membership, subscriptions, self._statistics
        )
        committed = CommittedOffsets(settings, self._coordinator)
        self._beginnings = Beginnings(
            settings, self._coordinator, committed, cluster, subscriptions, random
        )
        self._coordinator_calls = CoordinatorCalls(
            settings, self._coordinator, self._commits, committed, clock, random, on_commit
        )
        self._auto: AutoCommit | None = None
        before: BeforeRebalance | None = None
        if settings.auto_commit_interval_ms is not None:
            self._auto = AutoCommit(settings, settings.auto_commit_interval_ms, self._commits)
            before = BeforeRebalance(settings, self._auto)
        self._rebalancing = Rebalancing(
            self._membership,
            self._coordinator,
            subscriptions,
            self._watch,
            Freshness(subscriptions, cluster),
            self._auto,
            before,
            election.protocol,
            self._statistics,
            clock,
        )

    # As a core: the consumer's own `poll` and `next_due_ms` call these, after the network's

    def poll(self, now_ms: int) -> None:
        """Do what is due. Partitions without a position start at the committed offset, or else as
        auto.offset.reset says.
        """
        self._coordinator.poll(now_ms)
        self._commits.poll(now_ms)
        if self._subscriptions.is_of_group:
            self._watch.update()
            self._membership.notice()
            self._joining.poll(now_ms)
            self._assigning.poll(now_ms)
        self._keeping_alive.poll(now_ms)
        self._beginnings.poll(now_ms)
        self._coordinator.poll(now_ms)  # so that their requests leave at once

    def next_due_ms(self, now_ms: int) -> int | None:
        """When to poll next, if nothing happens before; None for never."""
        due = [
            self._coordinator.next_due_ms(now_ms),
            self._commits.next_due_ms(),
            self._keeping_alive.next_due_ms(),
            self._beginnings.next_due_ms(now_ms),
        ]
        if self._subscriptions.is_of_group:
            due += [self._joining.next_due_ms(now_ms), self._assigning.next_due_ms(now_ms)]
        return min((each for each in due if each is not None), default=None)

    # In the program's poll()

    def attend(self, listener: RebalanceListener) -> Steps[None]:
        """Call in a poll after `polled`, before returning records, and again whenever
        `awaits_program` or `attend_again_ms` say so. It never waits for a broker.

        All records returned before count as consumed. Raises ClientError if the group refuses this
        member, RebalanceListenerError, and NoOffsetForPartitionError last, so that a program that
        gets it in each poll still takes part in rebalances.
        """
        self._watch.update()
        yield from self._coordinator_calls.tell_completed()
        self._coordinator.check()
        if self._subscriptions.is_of_group:
            yield from self._rebalancing.attend(listener)
        if self._auto is not None and self._may_commit():
            self._auto.polled(self._clock.now_ms())
        self._beginnings.check()

    def _may_commit(self) -> bool:
        """Not during a rebalance: what was consumed before it is committed already."""
        is_settled = self._membership.is_stable and self._membership.rejoin_reason is None
        return is_settled or not self._subscriptions.is_of_group

    def polled(self, now_ms: int) -> None:
        """Call first in a poll. If records are available, all else can wait until
        `attend_again_ms`.

        Raises ClientError if another client has taken over this static member.
        """
        if self._subscriptions.is_of_group:
            self._membership.polled(now_ms)

    def want_position(self, place: TopicPartition) -> None:
        """Look for its position, even during the listener's call for its partition."""
        self._beginnings.want(place)

    @property
    def lacks_positions(self) -> bool:
        """Whether `check_positions` would raise something."""
        return self._coordinator.failure is not None or self._beginnings.failure is not None

    def check_positions(self) -> None:
        """Raises once why some are missing: NoOffsetForPartitionError, other ClientError."""
        self._coordinator.check()
        self._beginnings.check()

    @property
    def awaits_program(self) -> bool:
        """Whether the member is stuck until `attend` is called; a waiting poll checks this."""
        failures = (self._coordinator, self._beginnings, self._membership)
        return (
            self._commits.has_completed
            or any(each.failure is not None for each in failures)
            or (self._subscriptions.is_of_group and self._rebalancing.awaits_program)
        )

    def attend_again_ms(self, now_ms: int) -> int:
        """When a poll that waits for records must call `attend`, whatever happens."""
        due = [now_ms + self._settings.heartbeat_interval_ms]
        if self._auto is not None and self._may_commit():
            due.append(self._auto.due_ms(now_ms))
        rebalancing_ms = self._rebalancing.due_ms()
        return min(due if rebalancing_ms is None else [*due, rebalancing_ms])

    # What else a program may want

    def commit(self, offsets: Offsets | None, deadline_ms: int) -> Steps[None]:
        """By default, of all that was consumed. Callbacks of earlier `commit_async` come first.

        Raises CommitFailedError, RebalanceInProgressError, TimedOutError, other ClientError.
        """
        wanted = self._commits.consumed() if offsets is None else offsets
        yield from self._coordinator_calls.commit(wanted, deadline_ms)

    def commit_async(
        self, offsets: Offsets | None, callback: CommitCallback = unheard
    ) -> Steps[None]:
        """Sent in call order, without retries; the callback runs in a call of the program."""
        yield from self._coordinator_calls.tell_completed()
        wanted = self._commits.consumed() if offsets is None else offsets
        self._commits.send_async(wanted, callback, self._clock.now_ms())

    def committed(
        self, places: Collection[TopicPartition], deadline_ms: int
    ) -> Steps[dict[TopicPartition, OffsetAndMetadata | None]]:
        """None without a committed offset. Raises TimedOutError, other ClientError."""
        return (yield from self._coordinator_calls.committed(places, deadline_ms))

    def reassigning(self) -> None:
        """The program assigns other partitions. No rebalance follows, so an automatic commit is
        made now if it is due.
        """
        if self._auto is not None:
            self._auto.polled(self._clock.now_ms())

    def group_metadata(self) -> ConsumerGroupMetadata:
        """As of the last assignment, for a transactional producer."""
        settings, generation = self._settings, self._rebalancing.generation
        return ConsumerGroupMetadata(
            settings.group_id, generation.id, generation.member_id, settings.instance_id
        )

    def enforce_rebalance(self, reason: str) -> None:
        """Rejoin in the next poll (KIP-568, KIP-800)."""
        self._membership.request_rejoin(reason)

    def leave(self, listener: RebalanceListener, reason: str) -> Steps[None]:
        """Give up all partitions and leave; `Subscriptions.unsubscribe` may follow.

        Raises RebalanceListenerError.
        """
        yield from self._rebalancing.leave(listener, reason)

    def close(self, listener: RebalanceListener, deadline_ms: int) -> Steps[None]:
        """Commit if enable.auto.commit is on, and leave. No call may follow.

        Raises RebalanceListenerError, and what a commit's callback raised, once all is done.
        """
        try:
            is_automatic = self._auto is not None
            calls = self._coordinator_calls
            yield from calls.finish_commits(deadline_ms, is_automatic=is_automatic)
        finally:
            try:
                yield from self._rebalancing.leave(listener, "the consumer is being closed")
            finally:
                yield from self._coordinator_calls.finish(deadline_ms)

    def metrics(self) -> dict[str, float]:
        """Kafka's consumer-coordinator-metrics; times are in milliseconds."""
        now_ms = self._clock.now_ms()
        return {
            **self._statistics.metrics(now_ms, self._heartbeat.sent_ms),
            "assigned-partitions": len(self._subscriptions.assigned),
        }
