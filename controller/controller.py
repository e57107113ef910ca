"""A candidate for the cluster's controller, and the controller while it is in office.

Every broker hosts one. Whoever creates /controller is in office, for one term: it reads the whole
state in, then turns what happens (brokers, topics, requests) into decisions, one event at a time.

Caveats. A controller that lost its session without knowing (a long pause) still sends: brokers
refuse its epoch, ZooKeeper its writes, and either makes it look who is in office. Reassignments
are carried in assignments but neither started nor finished here; the older tools' znodes for
them and for preferred elections are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Generic, TypeVar

from logquake.controller.events.alter_partition import alter_partition
from logquake.controller.events.controlled_shutdown import controlled_shutdown
from logquake.controller.events.create_partitions import PartitionCreation
from logquake.controller.events.create_topics import TopicCreation
from logquake.controller.events.delete_topics import DeletionRequest
from logquake.controller.events.elect_leaders import (
    ElectionRequest,
    Results,
    elect_leaders,
    with_error,
)
from logquake.controller.events.producer_ids import allocate_producer_ids
from logquake.controller.office.office import Office
from logquake.controller.office.watches import event_for
from logquake.controller.rules.mutations import MayMutate, any_mutations
from logquake.controller.settings import ControllerSettings
from logquake.controller.state_machines.partition_state_machine import trigger_online_state_change
from logquake.controller.statistics import ControllerStatistics, statistics_of
from logquake.controller.term import Term
from logquake.seams.journal import Journal
from logquake.seams.network import Network
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    AlterPartitionRequest,
    AlterPartitionResponse,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from logquake.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from logquake.zk.operations import EventType, Session, WatchEvent
from logquake.zk.procedure import Procedure
from logquake.zk.znodes.control import CONTROLLER_EPOCH_PATH, CONTROLLER_PATH

M = TypeVar("M")
Q = TypeVar("Q")


class Controller:
    """Lives on one loop: every call, and every callback of its seams, comes from there.

    ``session`` retries over lost connections; the broker must be registered in it before
    on_session_established(). ``random`` gives topic ids and where
    assignments start. ``on_holder_changed`` is called whenever active_controller_id is
    another one. A request that comes out of office is answered with NOT_CONTROLLER.
    """

    def __init__(
        self,
        broker_id: int,
        settings: ControllerSettings,
        *,
        session: Session,
        network: Network,
        scheduler: Scheduler,
        journal: Journal,
        random: Random,
        on_holder_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._office = Office(
            broker_id,
            settings,
            session=session,
            network=network,
            scheduler=scheduler,
            journal=journal,
            random=random,
            on_holder_changed=on_holder_changed,
        )

    @property
    def is_active(self) -> bool:
        return self._office.term is not None

    @property
    def epoch(self) -> int:
        """The controller epoch of this term; 0 out of office."""
        return self._office.term.zk.epoch if self._office.term else 0

    @property
    def active_controller_id(self) -> int:
        """Who is in office, as /controller said last, or NO_CONTROLLER."""
        return self._office.holder_id

    @property
    def refused(self) -> frozenset[int]:
        """Registered brokers that the controller in office cannot reach; none out of office."""
        return frozenset(self._office.term.context.refused) if self._office.term else frozenset()

    def topic_name(self, topic_id: bytes) -> str | None:
        """Of the topic with that id; None out of office, or if there is none."""
        return self._office.term.context.topic_name(topic_id) if self._office.term else None

    def statistics(self) -> ControllerStatistics:
        return statistics_of(self._office.term)

    def misplaced(self) -> Iterator[str]:
        """What is wrong with the groups in which it keeps partitions: for tests."""
        return self._office.term.context.misplaced() if self._office.term else iter(())

    def on_session_established(self, session_id: int) -> None:
        """A new session, the first one too, with the broker registered in it."""
        self._office.session_established(session_id)

    def on_session_expired(self) -> None:
        """Whatever was asked is answered; the term is over."""
        self._office.session_expired()

    def resign(self) -> None:
        """Give the office up, if held: /controller is deleted, and all may stand again."""
        self._office.resign()

    def close(self) -> None:
        """For good. /controller goes with the session."""
        self._office.close()

    def on_watch(self, event: WatchEvent) -> None:
        """Every watch event of the session is offered here; others than its own are ignored."""
        if event.path == CONTROLLER_EPOCH_PATH:
            self._office.stand()  # it made no sense when somebody was to be elected
        elif event.path != CONTROLLER_PATH:
            found = event_for(event)
            if found is not None:
                self._office.put(*found)
        elif event.type is EventType.DELETED:
            self._office.stand()
        else:
            self._office.look()

    def alter_partition(
        self, request: AlterPartitionRequest, reply: Callable[[AlterPartitionResponse], None]
    ) -> None:
        answer = _AnswerOnce(reply, lambda code: AlterPartitionResponse(error_code=code))
        self._put_answered("alter-partition", alter_partition, request, answer)

    def controlled_shutdown(
        self,
        request: ControlledShutdownRequest,
        reply: Callable[[ControlledShutdownResponse], None],
    ) -> None:
        answer = _AnswerOnce(reply, lambda code: ControlledShutdownResponse(error_code=code))
        self._put_answered("controlled-shutdown", controlled_shutdown, request, answer)

    def allocate_producer_ids(
        self,
        request: AllocateProducerIdsRequest,
        reply: Callable[[AllocateProducerIdsResponse], None],
    ) -> None:
        answer = _AnswerOnce(reply, lambda code: AllocateProducerIdsResponse(error_code=code))
        self._put_answered("allocate-producer-ids", allocate_producer_ids, request, answer)

    def create_topics(
        self,
        request: CreateTopicsRequest,
        reply: Callable[[CreateTopicsResponse], None],
        may_mutate: MayMutate = any_mutations,
    ) -> None:
        self._put_settled("create-topics", TopicCreation(request, reply, may_mutate))

    def delete_topics(
        self,
        request: DeleteTopicsRequest,
        reply: Callable[[DeleteTopicsResponse], None],
        may_mutate: MayMutate = any_mutations,
    ) -> None:
        self._put_settled("delete-topics", DeletionRequest(request, reply, may_mutate))

    def create_partitions(
        self,
        request: CreatePartitionsRequest,
        reply: Callable[[CreatePartitionsResponse], None],
        may_mutate: MayMutate = any_mutations,
    ) -> None:
        self._put_settled("create-partitions", PartitionCreation(request, reply, may_mutate))

    def elect_leaders(self, request: ElectionRequest, reply: Callable[[Results], None]) -> None:
        answer = _AnswerOnce(reply, lambda code: with_error(request.partitions, code))
        self._put_answered("elect-leaders", elect_leaders, request, answer)

    def reconfigure(self, settings: ControllerSettings) -> None:
        """Obey what of these may change at run time, in this term and later ones."""
        before = self._office.settings
        self._office.reconfigure(settings)
        if settings.unclean_leader_election_enable and not before.unclean_leader_election_enable:
            self.enable_unclean_election()

    def enable_unclean_election(self, topic: str | None = None) -> None:
        """unclean.leader.election.enable has become true, for a topic or by default (None)."""

        async def elect(term: Term) -> None:
            await trigger_online_state_change(term, topic)

        self._office.put("unclean-election-enabled", elect)

    def _put_answered(
        self,
        name: str,
        event: Callable[[Term, Q, Callable[[M], None]], Procedure[None]],
        request: Q,
        answer: _AnswerOnce[M],
    ) -> None:
        self._office.put(name, lambda term: event(term, request, answer.give), answer.fail)

    def _put_settled(self, name: str, request: _Settled) -> None:
        """A request that is not carried out is answered when it is known how far it came."""

        def abandon(code: ErrorCode) -> None:
            async def find_out() -> None:
                await request.settle()
                request.refuse_rest(code)

            if request.is_in_doubt:
                self._office.put_out_of_office(f"{name}-in-doubt", find_out)
            else:
                request.refuse_rest(code)

        self._office.put(name, request.carry_out, abandon)


_Settled = TopicCreation | DeletionRequest | PartitionCreation


class _AnswerOnce(Generic[M]):
    """The answer to a request, given once, whatever happens.

    ``refusal`` makes the answer to a request whose event failed or was dropped.
    """

    def __init__(self, reply: Callable[[M], None], refusal: Callable[[ErrorCode], M]) -> None:
        self._reply = reply
        self._refusal = refusal
        self._given = False

    def give(self, answer: M) -> None:
        if not self._given:
            self._given = True
            self._reply(answer)

    def fail(self, code: ErrorCode) -> None:
        self.give(self._refusal(code))
