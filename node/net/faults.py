"""Journal entries about connections at fault, so few that no peer can fill the journal."""

from __future__ import annotations

from logquake.node.journal_events import CONNECTION_CLOSED
from logquake.seams.journal import Event, EventKind, Journal
from logquake.seams.scheduler import Scheduler

_BURST = 10
_REFILL_MS = 1_000  # one more entry each


class FaultReports:
    """Reports connections closed for a fault: a burst, then one a second with a count.

    ``what`` is the event: a client's fault, unless it is told otherwise.
    """

    def __init__(
        self, scheduler: Scheduler, journal: Journal, what: EventKind = CONNECTION_CLOSED
    ) -> None:
        self._scheduler = scheduler
        self._journal = journal
        self._what = what
        self._allowed = _BURST
        self._refilled_ms = scheduler.now_ms()
        self._unreported = 0

    def report(self, subject: str, why: str) -> None:
        """Record that the connection of subject was closed and why, unless there were too many."""
        self._refill()
        if self._allowed == 0:
            self._unreported += 1
            return
        self._allowed -= 1
        if self._unreported:
            why = f"{why} ({self._unreported} more since the last report)"
            self._unreported = 0
        self._journal.record(Event(what=self._what, subject=subject, why=why))

    def _refill(self) -> None:
        now_ms = self._scheduler.now_ms()
        earned = (now_ms - self._refilled_ms) // _REFILL_MS
        self._refilled_ms += earned * _REFILL_MS
        self._allowed = min(_BURST, self._allowed + earned)
