"""The office of controller: standing for it, holding it for a term, losing it or giving it up.

A term ends with the ZooKeeper session, when /controller names another broker, or when ZooKeeper
refuses a write because /controller_epoch has moved on; then everything that it knew is dropped,
and work that was meant for it is answered with NOT_CONTROLLER.

Caveat: a term that cannot read in what it must (ZooKeeper refuses, or data is malformed) is given
up at once, so that another broker can try. Where the data itself is at fault they try in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

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
    session_is_over,
)
from logquake.controller.events.answers import error_of, event_for_answer, note_refusal
from logquake.controller.events.leader_rebalance import rebalance_leaders
from logquake.controller.failover import take_office
from logquake.controller.guarded_zk import GuardedZk
from logquake.controller.journal import Event, Journal
from logquake.controller.outbox import Outbox
from logquake.controller.ports import Network, Scheduler, Timer
from logquake.controller.request_batch import Outgoing
from logquake.controller.session_work import SessionWork
from logquake.controller.settings import ControllerSettings
from logquake.controller.term import Term, TermProcedure
from logquake.wire.errors import ErrorCode
from logquake.wire.schema import Message
from logquake.zk.operations import Session
from logquake.zk.procedure import Procedure

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
        self._settings = settings
        self._network = network
        self._scheduler = scheduler
        self._journal = journal
        self._random = random
        self._on_holder_changed = on_holder_changed
        self._queue = EventQueue(session, self._recover, partial(scheduler.call_later, 0))
        self._session_work = SessionWork(self._queue)
        self._rebalance: Timer | None = None
        self._closed = False
        self.term: Term | None = None
        self.holder_id = NOBODY
        """The broker in office, as /controller said last."""

    def look(self) -> None:
        """Learn who is in office; no more."""
        self._queue.put(ControllerEvent("look", self._look))

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
        self._take_note_of(NOBODY)

    def close(self) -> None:
        self._closed = True
        self._queue.clear(ErrorCode.NOT_CONTROLLER)
        self._end_term("the broker stops")

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
        """Not being in office any more ends the term."""
        holder_id = await read_controller_id()
        if holder_id != self._broker_id:
            self._end_term(f"/controller names broker {holder_id}")
        self._take_note_of(holder_id)

    def _take_note_of(self, holder_id: int) -> None:
        if holder_id != self.holder_id:
            self.holder_id = holder_id
            self._on_holder_changed()

    async def _look_and_stand(self) -> None:
        await self._look()
        if self.holder_id != NOBODY or self._closed:
            return
        try:
            mandate = await stand(self._broker_id, self._scheduler.wall_ms())
        except ControllerMoved:
            await self._look()  # another was faster: no failure
            return
        await self._serve(self._begin_term(mandate))

    async def _serve(self, term: Term) -> None:
        await take_office(term)
        if self.term is term:  # else the broker was closed meanwhile
            term.took_office = True
            self._schedule_rebalance(FIRST_REBALANCE_MS)

    async def _resign(self) -> None:
        if self.term is not None:
            epoch_version = self.term.zk.epoch_version
            self._end_term("it gives the office up")
            await step_down(epoch_version)

    def _begin_term(self, mandate: Mandate) -> Term:
        self._take_note_of(self._broker_id)
        self._record("controller-elected", mandate.epoch, "it created /controller")
        term = Term(
            self._broker_id,
            self._settings,
            GuardedZk(mandate.epoch, mandate.epoch_version),
            ControllerContext(),
            self._outbox(),
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
            term.outbox.close()
            self._record("controller-resigned", term.zk.epoch, why)

    async def _recover(self, event: ControllerEvent, failure: Failure) -> None:
        """An event failed: another controller is in office, or ZooKeeper was of no help."""
        epoch = self.term.zk.epoch if self.term else 0
        self._record("controller-event-failed", epoch, f"{event.name}: {failure}")
        if isinstance(failure, ControllerMoved):
            await self._look()
        elif self.term is not None and not self.term.took_office and not session_is_over(failure):
            await self._resign()

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

    def _answered(self, outgoing: Outgoing, answer: Message) -> None:
        if self.term is None:
            return
        code = error_of(answer)
        if code != ErrorCode.NONE:
            note_refusal(self.term, outgoing, code)
        if code == ErrorCode.STALE_CONTROLLER_EPOCH:
            self.look()  # the broker knows a newer controller
        found = event_for_answer(outgoing, answer)
        if found is not None:
            self.put(*found)

    def _schedule_rebalance(self, delay_ms: int) -> None:
        if not self._settings.auto_leader_rebalance_enable:
            return

        def due() -> None:
            self.put("leader-rebalance", rebalance_leaders)
            self._schedule_rebalance(self._settings.leader_imbalance_check_interval_seconds * 1000)

        self._rebalance = self._scheduler.call_later(delay_ms, due)
