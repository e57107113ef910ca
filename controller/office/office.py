"""The office of controller: standing for it, holding it for a term, losing it or giving it up.

A term ends with the ZooKeeper session, when /controller names another broker, or when ZooKeeper
refuses a write because /controller_epoch has moved on; then everything that it knew is dropped,
and work that was meant for it is answered with NOT_CONTROLLER.

A term that ZooKeeper refuses to read something in for is given up at once, so that another broker
can try. Data that makes no sense is no reason: it is set aside (set_aside.py).

Caveat: while /controller or /controller_epoch itself makes no sense nobody new takes office; once
/controller_epoch is mended they stand again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from logquake.controller.channels.broker_channel import ChannelTiming
from logquake.controller.channels.channel_manager import ControllerChannelManager
from logquake.controller.channels.reachability import Reachability
from logquake.controller.channels.request_batch import Outgoing
from logquake.controller.context.controller_context import ControllerContext
from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.events.answers import error_of, events_for_answer, note_refusal
from logquake.controller.events.brokers_changed import broker_accepts, broker_refused
from logquake.controller.events.leader_rebalance import rebalance_leaders
from logquake.controller.journal_events import (
    CONTROLLER_ELECTED,
    CONTROLLER_EVENT_FAILED,
    CONTROLLER_RESIGNED,
)
from logquake.controller.office.candidacy import (
    VACANT,
    Incumbent,
    Mandate,
    read_incumbent,
    stand,
    step_down,
    take_over,
)
from logquake.controller.office.event_queue import (
    ControllerEvent,
    EventQueue,
    Failure,
    SessionWork,
    session_is_over,
)
from logquake.controller.office.failover import take_office
from logquake.controller.office.succession import Succession
from logquake.controller.settings import ControllerSettings
from logquake.controller.term import Term, TermProcedure
from logquake.controller.zookeeper.guarded_zk import ControllerMoved, GuardedZk
from logquake.controller.zookeeper.set_aside import SetAside
from logquake.controller.zookeeper.watched_reads import read_broker
from logquake.seams.journal import Event, EventKind, Journal
from logquake.seams.network import Network
from logquake.seams.scheduler import Scheduler, Timer
from logquake.wire.errors import ErrorCode
from logquake.wire.schema import Message
from logquake.wire.sentinels import NO_CONTROLLER
from logquake.zk.operations import Session
from logquake.zk.procedure import Procedure, ZkFailure
from logquake.zk.znodes.json_text import MalformedZnode

FIRST_REBALANCE_MS = 5000


class Office:
    """One broker's candidacy, and the term that it holds now or None."""

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
        on_holder_changed: Callable[[], None],
    ) -> None:
        self._broker_id = broker_id
        self.settings = settings
        self._network = network
        self._scheduler = scheduler
        self._journal = journal
        self._random = random
        self._on_holder_changed = on_holder_changed
        self._queue = EventQueue(session, self._recover, partial(scheduler.call_later, 0))
        self._session_work = SessionWork(self._queue)
        self._rebalance: Timer | None = None
        self._session_id = 0
        self._closed = False
        self._vigil_timing = settings.vigil_timing
        self._succession = self._new_succession()
        self.term: Term | None = None
        self.holder_id = NO_CONTROLLER
        """The broker in office, as /controller said last."""

    def reconfigure(self, settings: ControllerSettings) -> None:
        """Only unclean.leader.election.enable may differ."""
        self.settings = settings
        if self.term is not None:
            self.term.settings = settings

    def look(self) -> None:
        """Learn who is in office; no more."""
        self._queue.put(ControllerEvent("look", self._look))

    def session_established(self, session_id: int) -> None:
        """A new session, with the broker registered in it."""
        self._session_id = session_id
        self.stand()

    def stand(self) -> None:
        """Be a candidate, if nobody is in office. A session serves."""
        self._queue.put(ControllerEvent("stand", self._look_and_stand))
        self._session_work.resume()

    def resign(self) -> None:
        self._queue.put(ControllerEvent("resign", self._resign))

    def session_expired(self) -> None:
        """What is in progress ends by its next operation; what waits is answered now."""
        self._queue.clear(ErrorCode.NOT_CONTROLLER)
        self._end_term("the ZooKeeper session expired")
        self._take_note_of(NO_CONTROLLER)
        self._stop_watching()

    def close(self) -> None:
        self._closed = True
        self._queue.clear(ErrorCode.NOT_CONTROLLER)
        self._end_term("the broker stops")
        self._stop_watching()

    def put(
        self,
        name: str,
        procedure: TermProcedure,
        abandon: Callable[[ErrorCode], None] = lambda _code: None,
    ) -> None:
        """Work of this very term: when it is over, the work is dropped."""
        term = self.term
        if term is None:
            abandon(ErrorCode.NOT_CONTROLLER)
            return

        async def run_in_term() -> None:
            if self.term is term:
                await procedure(term)
            else:
                abandon(ErrorCode.NOT_CONTROLLER)

        self._queue.put(ControllerEvent(name, run_in_term, abandon))

    def put_out_of_office(self, name: str, procedure: Callable[[], Procedure[None]]) -> None:
        """Reads that whoever is in office may do, in this session or in the next."""
        self._session_work.put(name, procedure)

    async def _look(self) -> None:
        await self._find_incumbent()

    async def _find_incumbent(self) -> Incumbent:
        """Not being in office any more ends the term."""
        incumbent = await read_incumbent()
        holder_id = incumbent.broker_id
        if holder_id != self._broker_id:
            self._end_term(f"/controller names broker {holder_id}")
        self._take_note_of(holder_id)
        await self._watch_over(incumbent)
        return incumbent

    def _take_note_of(self, holder_id: int) -> None:
        if holder_id != self.holder_id:
            self.holder_id = holder_id
            self._on_holder_changed()

    async def _look_and_stand(self) -> None:
        incumbent = await self._find_incumbent()
        if self._closed:
            return
        if incumbent == VACANT:
            election = stand(self._broker_id, self._scheduler.wall_ms())
            await self._run_for(election, "it created /controller")
        elif self._is_own_of_before(incumbent):
            await self._take_over(incumbent, None, "/controller named an earlier life of this one")

    async def _take_over(self, incumbent: Incumbent, refused: LiveBroker | None, why: str) -> None:
        if not self._closed:
            now_ms = self._scheduler.wall_ms()
            election = take_over(incumbent, self._broker_id, now_ms)
            await self._run_for(election, f"it took /controller over: {why}", refused)

    async def _run_for(
        self, election: Procedure[Mandate], why: str, refused: LiveBroker | None = None
    ) -> None:
        try:
            mandate = await election
        except ControllerMoved:
            await self._look()  # another was faster: no failure
            return
        await self._serve(self._begin_term(mandate, why), refused)

    def _is_own_of_before(self, incumbent: Incumbent) -> bool:
        """Held in the name of this broker, by the session of a process that was here before."""
        return (
            self._vigil_timing is not None
            and self.term is None
            and incumbent.broker_id == self._broker_id
            and incumbent.session_id != self._session_id
        )

    async def _watch_over(self, incumbent: Incumbent) -> None:
        """Another one in office: be there when its broker is gone."""
        succession = self._succession
        if succession is None or succession.is_watching(incumbent):
            return
        succession.stop()
        if incumbent.broker_id not in (NO_CONTROLLER, self._broker_id):
            broker = await read_broker(incumbent.broker_id, SetAside(self._journal))
            if broker is not None and not self._closed:
                succession.watch(incumbent, broker)

    def _stop_watching(self) -> None:
        if self._succession is not None:
            self._succession.stop()

    def _incumbent_refused(self, incumbent: Incumbent, broker: LiveBroker) -> None:
        why = f"broker {incumbent.broker_id} refuses connections"

        async def succeed() -> None:
            await self._take_over(incumbent, broker, why)

        self._queue.put(ControllerEvent("controller-refused", succeed))

    async def _serve(self, term: Term, refused: LiveBroker | None) -> None:
        await take_office(term, refused)
        if self.term is term:  # else the broker was closed meanwhile
            term.took_office = True
            self._schedule_rebalance(FIRST_REBALANCE_MS)

    async def _resign(self) -> None:
        if self.term is not None:
            epoch_version = self.term.zk.epoch_version
            self._end_term("it gives the office up")
            await step_down(epoch_version)

    def _begin_term(self, mandate: Mandate, why: str) -> Term:
        self._take_note_of(self._broker_id)
        self._stop_watching()
        self._record(CONTROLLER_ELECTED, mandate.epoch, why)
        set_aside = SetAside(self._journal, mandate.epoch)
        term = Term(
            self._broker_id,
            self.settings,
            GuardedZk(mandate.epoch, mandate.epoch_version, set_aside),
            set_aside,
            ControllerContext(),
            self._new_channels(),
            self._reachability(),
            self._journal,
            self._random,
            self._give_way,
        )
        self.term = term
        return term

    async def _give_way(self, term: Term) -> None:
        await self._queue.give_way()
        if self.term is not term:
            raise ControllerMoved("the term ended meanwhile")

    def _end_term(self, why: str) -> None:
        term, self.term = self.term, None
        if self._rebalance is not None:
            self._rebalance.cancel()
            self._rebalance = None
        if term is not None:
            term.close()
            self._record(CONTROLLER_RESIGNED, term.zk.epoch, why)

    async def _recover(self, event: ControllerEvent, failure: Failure) -> None:
        """An event failed: another controller is in office, or ZooKeeper was of no help."""
        epoch = self.term.zk.epoch if self.term else 0
        self._record(CONTROLLER_EVENT_FAILED, epoch, f"{event.name}: {failure}")
        if isinstance(failure, ControllerMoved):
            await self._make_way()
        elif self.term is not None and not self.term.took_office:
            await self._give_up(failure)

    async def _give_up(self, failure: Failure) -> None:
        """What was read in so far is no answer to anybody: the term ends before the next event,
        and so before the news that the session is over, with which /controller goes.
        """
        if session_is_over(failure):
            self._end_term("the ZooKeeper session ended before it took office")
        else:
            await self._resign()

    async def _make_way(self) -> None:
        """Another one was elected, also where /controller does not tell whom, or cannot be read."""
        try:
            await self._look()
        except MalformedZnode as malformed:
            self._end_term(f"/controller makes no sense: {malformed}")
            self._take_note_of(NO_CONTROLLER)
        except ZkFailure as failure:
            self._end_term(f"another was elected, and /controller cannot be read: {failure}")
        if self.term is not None and not self.term.took_office:
            self._end_term("/controller_epoch was written by somebody who was not elected")

    def _record(self, what: EventKind, epoch: int, why: str) -> None:
        self._journal.record(Event(what, f"broker-{self._broker_id}", why, epoch=epoch))

    def _new_channels(self) -> ControllerChannelManager:
        return ControllerChannelManager(
            self._network,
            self._scheduler,
            ChannelTiming(
                self.settings.controller_socket_timeout_ms,
                self.settings.request_retry_backoff_ms,
            ),
            client_id=str(self._broker_id),
            listener=self.settings.inter_broker_listener_name,
            on_answer=self._answered,
        )

    def _reachability(self) -> Reachability:
        return Reachability(
            self._network,
            self._scheduler,
            self._vigil_timing,
            own_id=self._broker_id,
            listener=self.settings.inter_broker_listener_name,
            on_refused=lambda broker: self.put(
                "broker-refused", lambda term: broker_refused(term, broker)
            ),
            on_accepted=lambda broker: self.put(
                "broker-accepts", lambda term: broker_accepts(term, broker)
            ),
        )

    def _new_succession(self) -> Succession | None:
        if self._vigil_timing is None:
            return None
        return Succession(
            self._network,
            self._scheduler,
            self._vigil_timing,
            listener=self.settings.inter_broker_listener_name,
            on_refused=self._incumbent_refused,
        )

    def _answered(self, outgoing: Outgoing, answer: Message) -> None:
        if self.term is None:
            return
        code = error_of(answer)
        if code != ErrorCode.NONE:
            note_refusal(self.term, outgoing, code)
        if code == ErrorCode.STALE_CONTROLLER_EPOCH:
            self.look()  # the broker knows a newer controller
        for found in events_for_answer(outgoing, answer):
            self.put(*found)

    def _schedule_rebalance(self, delay_ms: int) -> None:
        if not self.settings.auto_leader_rebalance_enable:
            return

        def due() -> None:
            self.put("leader-rebalance", rebalance_leaders)
            self._schedule_rebalance(self.settings.leader_imbalance_check_interval_seconds * 1000)

        self._rebalance = self._scheduler.call_later(delay_ms, due)
