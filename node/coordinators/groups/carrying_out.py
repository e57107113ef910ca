"""What events of memberships bring about, carried out: answers, records, the journal, and when a
group is to be looked at again without being asked.
"""

from __future__ import annotations

from logquake.node.coordinators.groups.alarms import Alarms
from logquake.node.coordinators.groups.group import Group
from logquake.node.coordinators.groups.membership import deadlines, storing
from logquake.node.coordinators.groups.membership.effects import (
    AnswerJoin,
    AnswerSync,
    Effect,
    StateChanged,
    Store,
)
from logquake.node.coordinators.groups.membership.record import group_batch
from logquake.node.coordinators.groups.membership.values import Moment
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.coordinators.groups.terms import GroupTerm
from logquake.node.journal_events import GROUP_STATE_CHANGED
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode

_ANSWERS = (AnswerJoin, AnswerSync)


class CarryingOut:
    """carry_out() is to be called after each event of a membership."""

    def __init__(self, records: OffsetSettings, scheduler: Scheduler, journal: Journal) -> None:
        self._records = records
        self._scheduler = scheduler
        self._journal = journal
        self._alarms = Alarms(scheduler)

    def close(self) -> None:
        self._alarms.close()

    def now(self) -> Moment:
        return Moment(self._scheduler.now_ms(), self._scheduler.wall_ms())

    def carry_out(self, term: GroupTerm, group: Group) -> None:
        membership = group.membership
        while effects := membership.take_effects():
            for effect in effects:
                self._perform(term, group, effect)
        if membership.is_dead:
            self._alarms.cancel(membership)
        else:
            self._alarms.set(membership, lambda: self._wake(term, group))

    def _wake(self, term: GroupTerm, group: Group) -> None:
        deadlines.pass_deadlines(group.membership, self.now())
        self.carry_out(term, group)

    def _perform(self, term: GroupTerm, group: Group, effect: Effect) -> None:
        if isinstance(effect, _ANSWERS):
            effect.answer()
        elif isinstance(effect, StateChanged):
            self._record(group.group_id, effect)
        else:
            self._store(term, group, effect)

    def _store(self, term: GroupTerm, group: Group, store: Store) -> None:
        """storeGroup. What no record can have, as names whose bytes were no UTF-8 and grew, is not
        stored.
        """
        membership = group.membership

        def appended(error: ErrorCode, _offset: int) -> None:
            storing.stored(membership, store.purpose, error, self.now())
            self.carry_out(term, group)

        records = self._records
        now_ms = self._scheduler.wall_ms()
        try:
            batch = group_batch(group.group_id, store.value, now_ms, records.compression)
        except ValueError:
            storing.stored(membership, store.purpose, ErrorCode.UNKNOWN_SERVER_ERROR, self.now())
            return
        term.append(batch, records.commit_required_acks, records.commit_timeout_ms, appended)

    def _record(self, group_id: str, change: StateChanged) -> None:
        self._journal.record(
            Event(
                GROUP_STATE_CHANGED,
                group_id,
                change.why,
                change.before,
                change.after,
                change.generation_id,
            )
        )
