"""The program's half of a rebalance: what it gives up before its consumer joins, and what it gets
(ConsumerCoordinator.onJoinPrepare, onJoinComplete, onLeavePrepare).

Only the program's own calls change the assignment: until it polls again it may process the records
of the last poll.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Set

from logquake.client.clock import Clock
from logquake.client.consumer.assignors.assignor import RebalanceProtocol
from logquake.client.consumer.group.automatic import AutoCommit, BeforeRebalance
from logquake.client.consumer.group.coordinator import Coordinator
from logquake.client.consumer.group.freshness import Freshness
from logquake.client.consumer.group.generation import Generation, Halted, Joined
from logquake.client.consumer.group.invoking import ListenerInvoker
from logquake.client.consumer.group.listener import RebalanceListener
from logquake.client.consumer.group.membership import Membership
from logquake.client.consumer.group.statistics import GroupStatistics
from logquake.client.consumer.group.topic_watch import TopicWatch
from logquake.client.consumer.subscription import Subscriptions
from logquake.client.driving.steps import Steps
from logquake.wire.topic_partition import TopicPartition


class Rebalancing:
    """``auto`` and ``before`` are None if enable.auto.commit is off."""

    def __init__(
        self,
        membership: Membership,
        coordinator: Coordinator,
        subscriptions: Subscriptions,
        watch: TopicWatch,
        freshness: Freshness,
        auto: AutoCommit | None,
        before: BeforeRebalance | None,
        protocol: RebalanceProtocol,
        statistics: GroupStatistics,
        clock: Clock,
    ) -> None:
        self._membership = membership
        self._coordinator = coordinator
        self._subscriptions = subscriptions
        self._watch = watch
        self._freshness = freshness
        self._auto = auto
        self._before = before
        self._is_eager = protocol is RebalanceProtocol.EAGER
        self._statistics = statistics
        self._clock = clock
        self.generation = Generation()  # of the last assignment
        self._is_telling = False  # a listener is running: its own polls change nothing
        self._going: Set[TopicPartition] = frozenset()  # what a running listener has to give up

    # What a poll does

    def attend(self, listener: RebalanceListener) -> Steps[None]:
        """Do what can be done without waiting. Raises ClientError."""
        self._membership.notice()
        while self._subscriptions.is_of_group and not self._is_telling:
            stage = self._membership.stage
            if isinstance(stage, Joined):
                yield from self._complete(stage, listener)
            elif isinstance(stage, Halted):
                self._membership.resume(stage)
            elif self._membership.needs_preparation and self._may_prepare():
                yield from self._prepare(listener)
            else:
                return
            self._membership.notice()

    @property
    def awaits_program(self) -> bool:
        if self._is_telling:
            return False
        stage = self._membership.stage
        if isinstance(stage, Joined | Halted):
            return not isinstance(stage, Halted) or stage.error is not None
        if not self._membership.needs_preparation or not self._coordinator.is_known:
            return False
        is_committing = self._before is not None and self._before.is_waiting
        return not is_committing and not self._freshness.is_waiting

    def due_ms(self) -> int | None:
        """When `attend` can continue even if nothing has happened."""
        if self._before is None or not self._coordinator.is_known:
            return None
        return self._before.due_ms() if self._membership.needs_preparation else None

    # What is given up

    def _may_prepare(self) -> bool:
        """Whether the coordinator is known, the pattern matched, and the commit done."""
        if not self._coordinator.find() or not self._freshness.is_given():
            return False
        if self._before is None:
            return True
        if self._is_eager:
            self._subscriptions.being_revoked(self._subscriptions.assigned)
        return self._before.is_over(self._clock.now_ms())

    def _prepare(self, listener: RebalanceListener) -> Steps[None]:
        """If the generation is lost while the listener runs, this starts over."""
        generation = self._membership.generation
        invoker = ListenerInvoker(listener, self._statistics, self._clock)
        yield from self._give_up(invoker)
        if self._membership.generation == generation and self._subscriptions.is_of_group:
            self._freshness.used()
            self._watch.leads_no_more()
            self._subscriptions.leads_no_more()
            self._membership.join(self._clock.now_ms())
        invoker.check()

    def _give_up(self, invoker: ListenerInvoker) -> Steps[None]:
        owned = set(self._subscriptions.assigned)
        if not self._membership.generation.is_known:
            if owned:
                yield from self._tell_gone(invoker.lost, owned)
        elif self._is_eager:
            yield from self._tell_gone(invoker.revoked, owned)
        else:
            unwanted = {place for place in owned if place.topic not in self._subscriptions.topics}
            if unwanted:
                yield from self._tell_gone(invoker.revoked, unwanted)

    # What is got

    def _complete(self, joined: Joined, listener: RebalanceListener) -> Steps[None]:
        self.generation = self._membership.generation
        if not self._subscriptions.is_wanted(joined.places):
            self._membership.request_rejoin(
                "received assignment does not match the current subscription"
            )
            self._membership.completed(joined)
            return
        invoker = ListenerInvoker(listener, self._statistics, self._clock)
        owned, given = set(self._subscriptions.assigned), set(joined.places)
        if owned - given and not self._is_eager:
            yield from self._tell_gone(invoker.revoked, owned - given)
            self._membership.request_rejoin("need to revoke partitions and re-join")
        if self._membership.stage is joined:
            yield from self._assign(joined, given - owned, invoker)
        self._membership.completed(joined)
        invoker.check()

    def _assign(
        self, joined: Joined, added: set[TopicPartition], invoker: ListenerInvoker
    ) -> Steps[None]:
        """Added partitions are read once the listener has run, even if it failed."""
        self._take(joined)
        try:
            yield from self._tell(invoker.assigned(added))
        finally:
            self._subscriptions.callback_done(self._subscriptions.assigned & added)
            self._membership.completed(joined)

    def _take(self, joined: Joined) -> None:
        self._watch.adopt(joined.places)
        self._membership.assigned(joined)
        if self._auto is not None:
            self._auto.restart(self._clock.now_ms())
        self._keep(joined.places)

    # What leaving does

    def leave(self, listener: RebalanceListener, reason: str) -> Steps[None]:
        """Leave even if the listener fails or is interrupted: a member that no longer reads would
        keep its partitions from the others. Raises RebalanceListenerError.
        """
        invoker = ListenerInvoker(listener, self._statistics, self._clock)
        try:
            yield from self._give_all_up(invoker)
        finally:
            self._keep(())
            self._membership.leave(reason)
            self._freshness.used()
            if self._before is not None:
                self._before.forget()
        invoker.check()

    def _give_all_up(self, invoker: ListenerInvoker) -> Steps[None]:
        """Except what the running listener, if that is what leaves, is giving up already."""
        owned = self._subscriptions.assigned - self._going
        if self._subscriptions.is_of_group and owned:
            is_in_time = self._membership.generation.is_known
            is_in_time &= not self._membership.is_rebalancing
            yield from self._tell_gone(invoker.revoked if is_in_time else invoker.lost, owned)

    # Within

    def _tell_gone(
        self, tell: Callable[[Set[TopicPartition]], Steps[None]], places: Set[TopicPartition]
    ) -> Steps[None]:
        """Give them up once the listener was told; it may have left the group meanwhile."""
        before, self._going = self._going, self._going | places
        try:
            yield from self._tell(tell(places))
        finally:
            self._going = before
        self._keep(self._subscriptions.assigned - places)

    def _tell(self, steps: Steps[None]) -> Steps[None]:
        """Polls within the listener change nothing."""
        before, self._is_telling = self._is_telling, True
        try:
            yield from steps
        finally:
            self._is_telling = before

    def _keep(self, places: Collection[TopicPartition]) -> None:
        """Keep only these, unless the listener has unsubscribed."""
        if self._subscriptions.is_of_group:
            self._subscriptions.assign_from_group(places)
