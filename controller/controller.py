"""A candidate for the cluster's controller, and the controller while it is in office.

Every broker hosts one. Whoever creates /controller is in office, for one term: it reads the whole
state in, then turns what happens (brokers, topics, requests) into decisions, one event at a time.
A term ends with the ZooKeeper session, when /controller names another broker, or when ZooKeeper
refuses a write because /controller_epoch has moved on; then everything that it knew is dropped.

Caveats. A controller that lost its session without knowing (a long pause) still sends: brokers
refuse its epoch, ZooKeeper its writes, and either makes it look who is in office. Reassignments
are carried in assignments but neither started nor finished here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from logquake.controller.answer_once import AnswerOnce
from logquake.controller.broker_channel import ChannelTiming
from logquake.controller.candidacy import (
    NOBODY,
    Mandate,
    read_controller_id,
    stand,
    step_down,
)
from logquake.controller.context import ControllerContext
from logquake.controller.event_queue import (
    ControllerEvent,
    ControllerMoved,
    EventQueue,
    Failure,
)
from logquake.controller.events.alter_partition import alter_partition
from logquake.controller.events.answers import (
    error_of,
    leader_and_isr_answered,
    note_refusal,
    stop_replica_answered,
)
from logquake.controller.events.controlled_shutdown import controlled_shutdown
from logquake.controller.events.create_topics import create_topics
from logquake.controller.events.delete_topics import delete_topics
from logquake.controller.events.leader_rebalance import rebalance_leaders
from logquake.controller.events.producer_ids import allocate_producer_ids
from logquake.controller.failover import take_office
from logquake.controller.guarded_zk import GuardedZk
from logquake.controller.journal import Event, Journal
from logquake.controller.outbox import Outbox
from logquake.controller.partition_moves import bring_leaderless_online
from logquake.controller.ports import Endpoint, Network, Scheduler, Timer
from logquake.controller.refusals import creation_refused, deletion_refused
from logquake.controller.request_batch import Outgoing
from logquake.controller.settings import ControllerSettings
from logquake.controller.statistics import ControllerStatistics, statistics_of
from logquake.controller.term import Term
from logquake.controller.watches import event_for
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    AlterPartitionRequest,
    AlterPartitionResponse,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from logquake.wire.messages.leader_and_isr import LeaderAndIsrResponse
from logquake.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from logquake.wire.messages.topics import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from logquake.wire.schema import Message
from logquake.zk.operations import EventType, Session, WatchEvent, ZkError
from logquake.zk.procedure import Procedure
from logquake.zk.znodes.control import CONTROLLER_PATH

FIRST_REBALANCE_MS = 5000

TermProcedure = Callable[[Term], Procedure[None]]


class Controller:
    """Lives on one loop: every call, and every callback of its ports, comes from there.

    ``session`` retries over lost connections; the broker must be registered in it before start()
    and, after an expiry, before on_session_established(). ``random`` gives topic ids and where
    assignments start.
    """

    def __init__(
        self,
        broker: Endpoint,
        settings: ControllerSettings,
        *,
        session: Session,
        network: Network,
        scheduler: Scheduler,
        journal: Journal,
        random: Random,
    ) -> None:
        self._broker_id = broker.broker_id
        self._settings = settings
        self._network = network
        self._scheduler = scheduler
        self._journal = journal
        self._random = random
        self._queue = EventQueue(session, self._recover)
        self._term: Term | None = None
        self._rebalance: Timer | None = None
        self._closed = False
        self.active_controller_id = NOBODY
        """Who is in office, as /controller said last; -1 for nobody."""

    # --- what is known of it

    @property
    def is_active(self) -> bool:
        return self._term is not None

    @property
    def epoch(self) -> int:
        """The controller epoch of this term; 0 out of office."""
        return 0 if self._term is None else self._term.zk.epoch

    def statistics(self) -> ControllerStatistics:
        return statistics_of(self._term)

    # --- its life

    def start(self) -> None:
        self._queue.put(ControllerEvent("startup", self._look_and_stand))

    def on_session_established(self) -> None:
        """A new session, with the broker registered in it."""
        self._queue.put(ControllerEvent("reelect", self._look_and_stand))

    def on_session_expired(self) -> None:
        """Whatever was asked is answered; what is in progress ends by its next operation."""
        self._queue.clear(ErrorCode.NOT_CONTROLLER)
        self.active_controller_id = NOBODY
        self._end_term("the ZooKeeper session expired")

    def resign(self) -> None:
        """Give the office up, if held: /controller is deleted and another broker takes over."""
        self._queue.put(ControllerEvent("resign", self._resign))

    def close(self) -> None:
        """For good. /controller goes with the session."""
        self._closed = True
        self._queue.clear(ErrorCode.NOT_CONTROLLER)
        self._end_term("the broker stops")

    def on_watch(self, event: WatchEvent) -> None:
        """Every watch event of the session is offered here; others than its own are ignored."""
        if event.path == CONTROLLER_PATH:
            gone = event.type is EventType.DELETED
            look = self._look_and_stand if gone else self._look
            self._queue.put(ControllerEvent("controller-changed", look))
            return
        found = event_for(event)
        if found is not None:
            self._put_in_term(*found)

    # --- what is asked of it

    def alter_partition(
        self, request: AlterPartitionRequest, reply: Callable[[AlterPartitionResponse], None]
    ) -> None:
        answer = AnswerOnce(reply, lambda code: AlterPartitionResponse(error_code=code))
        self._put_in_term(
            "alter-partition",
            lambda term: alter_partition(term, request, answer.give),
            answer.fail,
        )

    def controlled_shutdown(
        self,
        request: ControlledShutdownRequest,
        reply: Callable[[ControlledShutdownResponse], None],
    ) -> None:
        answer = AnswerOnce(reply, lambda code: ControlledShutdownResponse(error_code=code))
        self._put_in_term(
            "controlled-shutdown",
            lambda term: controlled_shutdown(term, request, answer.give),
            answer.fail,
        )

    def allocate_producer_ids(
        self,
        request: AllocateProducerIdsRequest,
        reply: Callable[[AllocateProducerIdsResponse], None],
    ) -> None:
        answer = AnswerOnce(reply, lambda code: AllocateProducerIdsResponse(error_code=code))
        self._put_in_term(
            "allocate-producer-ids",
            lambda term: allocate_producer_ids(term, request, answer.give),
            answer.fail,
        )

    def create_topics(
        self, request: CreateTopicsRequest, reply: Callable[[CreateTopicsResponse], None]
    ) -> None:
        answer = AnswerOnce(reply, creation_refused(request))
        self._put_in_term(
            "create-topics", lambda term: create_topics(term, request, answer.give), answer.fail
        )

    def delete_topics(
        self, request: DeleteTopicsRequest, reply: Callable[[DeleteTopicsResponse], None]
    ) -> None:
        answer = AnswerOnce(reply, deletion_refused(request))
        self._put_in_term(
            "delete-topics", lambda term: delete_topics(term, request, answer.give), answer.fail
        )

    def enable_unclean_election(self, topic: str | None = None) -> None:
        """unclean.leader.election.enable has become true, for a topic or by default (None)."""

        async def elect(term: Term) -> None:
            await bring_leaderless_online(term, topic)

        self._put_in_term("unclean-election-enabled", elect)

    # --- terms

    async def _look(self) -> None:
        """Learn who is in office; not being it any more ends the term."""
        self.active_controller_id = await read_controller_id()
        if self.active_controller_id != self._broker_id:
            self._end_term(f"/controller names broker {self.active_controller_id}")

    async def _look_and_stand(self) -> None:
        await self._look()
        if self.active_controller_id != NOBODY or self._closed:
            return
        try:
            mandate = await stand(self._broker_id, self._scheduler.wall_ms())
        except ControllerMoved:
            await self._look()  # another was faster: no failure
            return
        term = self._begin_term(mandate)
        await take_office(term)
        term.took_office = True
        self._schedule_rebalance(FIRST_REBALANCE_MS)

    async def _resign(self) -> None:
        if self._term is not None:
            epoch_version = self._term.zk.epoch_version
            self._end_term("it was asked to resign")
            await step_down(epoch_version)

    def _begin_term(self, mandate: Mandate) -> Term:
        self.active_controller_id = self._broker_id
        self._record("controller-elected", mandate.epoch, "it created /controller")
        term = Term(
            self._broker_id,
            self._settings,
            GuardedZk(mandate.epoch, mandate.epoch_version),
            ControllerContext(),
            self._outbox(),
            self._journal,
            self._random,
        )
        self._term = term
        return term

    def _end_term(self, why: str) -> None:
        term, self._term = self._term, None
        if self._rebalance is not None:
            self._rebalance.cancel()
            self._rebalance = None
        if term is not None:
            term.outbox.close()
            self._record("controller-resigned", term.zk.epoch, why)

    def _record(self, what: str, epoch: int, why: str) -> None:
        self._journal.record(Event(what, f"broker-{self._broker_id}", why, epoch=epoch))

    def _outbox(self) -> Outbox:
        return Outbox(
            self._network,
            self._scheduler,
            ChannelTiming(
                self._settings.controller_socket_timeout_ms,
                self._settings.request_retry_backoff_ms,
            ),
            client_id=str(self._broker_id),
            listener=self._settings.inter_broker_listener_name,
            on_answer=self._answered,
        )

    # --- events

    def _put_in_term(
        self,
        name: str,
        procedure: TermProcedure,
        abandon: Callable[[ErrorCode], None] = lambda _code: None,
    ) -> None:
        """Work of this very term: when it is over, the work is dropped."""
        term = self._term
        if term is None:
            abandon(ErrorCode.NOT_CONTROLLER)
            return

        async def run_in_term() -> None:
            if self._term is term:
                await procedure(term)
            else:
                abandon(ErrorCode.NOT_CONTROLLER)

        self._queue.put(ControllerEvent(name, run_in_term, abandon))

    async def _recover(self, event: ControllerEvent, failure: Failure) -> None:
        """An event failed: another controller is in office, or ZooKeeper refused something.

        A term that could not be begun properly is given up, so that another broker can try.
        """
        self._record("controller-event-failed", self.epoch, f"{event.name}: {failure}")
        if isinstance(failure, ControllerMoved):
            await self._look()
        elif failure.failed.error is not ZkError.SESSION_EXPIRED and not self._is_settled():
            await self._resign()

    def _is_settled(self) -> bool:
        return self._term is not None and self._term.took_office

    def _answered(self, outgoing: Outgoing, answer: Message) -> None:
        term = self._term
        if term is None:
            return
        code = error_of(answer)
        if code is not ErrorCode.NONE:
            note_refusal(term, outgoing, code)
        if code is ErrorCode.STALE_CONTROLLER_EPOCH:
            self._queue.put(ControllerEvent("fenced-by-broker", self._look))
        broker_id, request = outgoing.broker_id, outgoing.request
        if isinstance(answer, LeaderAndIsrResponse):
            handle = partial(leader_and_isr_answered, broker_id=broker_id, answer=answer)
            self._put_in_term("leader-and-isr-answered", handle)
        elif isinstance(answer, StopReplicaResponse) and isinstance(request, StopReplicaRequest):
            self._put_in_term(
                "stop-replica-answered",
                lambda term: stop_replica_answered(term, broker_id, request, answer),
            )

    def _schedule_rebalance(self, delay_ms: int) -> None:
        if not self._settings.auto_leader_rebalance_enable:
            return

        def due() -> None:
            self._put_in_term("leader-rebalance", rebalance_leaders)
            self._schedule_rebalance(self._settings.leader_imbalance_check_interval_seconds * 1000)

        self._rebalance = self._scheduler.call_later(delay_ms, due)
