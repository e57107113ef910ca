"""A consumer's membership, and its commits (ConsumerCoordinator, AbstractCoordinator).

Two parties drive it. The driver polls it as a core: it finds the coordinator, joins, syncs, sends
heartbeats, leaves when the program does not poll for too long, sends commits, and fetches committed
offsets. The program's calls are Steps, and they alone change the assignment, and call the listener,
since the program may work with its partitions until it polls again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random

from logquake.client.clock import Clock
from logquake.client.consumer.assignors.assignor import Assignor
from logquake.client.consumer.group.asking import Asking
from logquake.client.consumer.group.assigning import Assigning
from logquake.client.consumer.group.automatic import AutoCommit, BeforeRebalance
from logquake.client.consumer.group.commits import Commits
from logquake.client.consumer.group.committed import Beginnings, CommittedOffsets
from logquake.client.consumer.group.coordinator import Coordinator
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
    """Of a consumer that has a group.id, whether it subscribes or only commits.

    ``beside`` calls assignors, when nobody has the core to himself.
    ``on_commit`` is called with offsets that were committed, in the program's calls: interceptors.
    ``on_event`` hears of what is not as it should be while the core is polled, to hand it on.
    Raises ValueError for assignors without a rebalance protocol in common, or of the same name.
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
        self._asking = Asking(
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
        """Do what is due. Positions of partitions that have none yet are set to what is committed,
        else reset as auto.offset.reset says.
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
        self._coordinator.poll(now_ms)  # what they ask leaves at once

    def next_due_ms(self, now_ms: int) -> int | None:
        """When to poll, if nothing happens before; None for never."""
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
        """Next thing in a poll after `polled`, before anything is handed out, and again whenever
        `awaits_program` or `attend_again_ms` say so: it never waits for a broker.

        All that was handed out before counts as consumed. Raises ClientError: what the group
        refuses this member for, RebalanceListenerError, and NoOffsetForPartitionError last: a
        program that is told so again and again takes its part in rebalances all the same.
        """
        self._watch.update()
        yield from self._asking.tell_completed()
        self._coordinator.check()
        if self._subscriptions.is_of_group:
            yield from self._rebalancing.attend(listener)
        if self._auto is not None and self._may_commit():
            self._auto.polled(self._clock.now_ms())
        self._beginnings.check()

    def _may_commit(self) -> bool:
        """Not amid a rebalance: what was consumed before it is committed already."""
        is_settled = self._membership.is_stable and self._membership.rejoin_reason is None
        return is_settled or not self._subscriptions.is_of_group

    def polled(self, now_ms: int) -> None:
        """First thing in a poll. Where records are at hand all else can wait until
        `attend_again_ms`.

        Raises ClientError: another one is this static member now.
        """
        if self._subscriptions.is_of_group:
            self._membership.polled(now_ms)

    def want_position(self, place: TopicPartition) -> None:
        """It is looked for, be it in the listener that is told of its partition."""
        self._beginnings.want(place)

    @property
    def lacks_positions(self) -> bool:
        """`check_positions` has something to raise."""
        return self._coordinator.failure is not None or self._beginnings.failure is not None

    def check_positions(self) -> None:
        """Raises why some have none, once: NoOffsetForPartitionError, other ClientError."""
        self._coordinator.check()
        self._beginnings.check()

    @property
    def awaits_program(self) -> bool:
        """Nothing goes on before `attend` is called: what a poll that waits for records asks."""
        failures = (self._coordinator, self._beginnings, self._membership)
        return (
            self._commits.has_completed
            or any(each.failure is not None for each in failures)
            or (self._subscriptions.is_of_group and self._rebalancing.awaits_program)
        )

    def attend_again_ms(self, now_ms: int) -> int:
        """When a poll that waits for records has to call `attend`, whatever happens."""
        due = [now_ms + self._settings.heartbeat_interval_ms]
        if self._auto is not None and self._may_commit():
            due.append(self._auto.due_ms(now_ms))
        rebalancing_ms = self._rebalancing.due_ms()
        return min(due if rebalancing_ms is None else [*due, rebalancing_ms])

    # What else a program may want

    def commit(self, offsets: Offsets | None, deadline_ms: int) -> Steps[None]:
        """Of all that was consumed, where None. The callbacks of earlier `commit_async` come first.

        Raises CommitFailedError, RebalanceInProgressError, TimedOutError, other ClientError.
        """
        wanted = self._commits.consumed() if offsets is None else offsets
        yield from self._asking.commit(wanted, deadline_ms)

    def commit_async(
        self, offsets: Offsets | None, callback: CommitCallback = unheard
    ) -> Steps[None]:
        """Sent in the order of the calls, and tried once; told in one of the program's calls."""
        yield from self._asking.tell_completed()
        wanted = self._commits.consumed() if offsets is None else offsets
        self._commits.send_async(wanted, callback, self._clock.now_ms())

    def committed(
        self, places: Collection[TopicPartition], deadline_ms: int
    ) -> Steps[dict[TopicPartition, OffsetAndMetadata | None]]:
        """None where nothing is. Raises TimedOutError, other ClientError."""
        return (yield from self._asking.committed(places, deadline_ms))

    def reassigning(self) -> None:
        """The program chooses other partitions: no rebalance follows, so what it is through with is
        committed now if that is automatic, and due.
        """
        if self._auto is not None:
            self._auto.polled(self._clock.now_ms())

    def group_metadata(self) -> ConsumerGroupMetadata:
        """As of the last assignment."""
        settings, generation = self._settings, self._rebalancing.generation
        return ConsumerGroupMetadata(
            settings.group_id, generation.id, generation.member_id, settings.instance_id
        )

    def enforce_rebalance(self, reason: str) -> None:
        """Join again in the next poll (KIP-568, KIP-800)."""
        self._membership.request_rejoin(reason)

    def leave(self, listener: RebalanceListener, reason: str) -> Steps[None]:
        """What is assigned is given up; `Subscriptions.unsubscribe` may follow.

        Raises RebalanceListenerError.
        """
        yield from self._rebalancing.leave(listener, reason)

    def close(self, listener: RebalanceListener, deadline_ms: int) -> Steps[None]:
        """Commit where that is automatic, and leave. Nothing may follow.

        Raises RebalanceListenerError, and what a callback of a commit raises, when all is done.
        """
        try:
            is_automatic = self._auto is not None
            yield from self._asking.finish_commits(deadline_ms, is_automatic=is_automatic)
        finally:
            try:
                yield from self._rebalancing.leave(listener, "the consumer is being closed")
            finally:
                yield from self._asking.finish(deadline_ms)

    def metrics(self) -> dict[str, float]:
        """Under Kafka's names, of consumer-coordinator-metrics; times in milliseconds."""
        now_ms = self._clock.now_ms()
        return {
            **self._statistics.metrics(now_ms, self._heartbeat.sent_ms),
            "assigned-partitions": len(self._subscriptions.assigned),
        }
