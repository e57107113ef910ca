"""Journal events of passes that kept the loop: the first, then one an interval, with a count."""

from __future__ import annotations

from logquake.node.journal_events import LOOP_BUSY
from logquake.node.net.pass_watch import NO_API, BusyPass
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.wire.api import ApiKey

_INTERVAL_MS = 10_000


class BusyReports:
    def __init__(self, subject: str, scheduler: Scheduler, journal: Journal) -> None:
        self._subject = subject
        self._scheduler = scheduler
        self._journal = journal
        self._quiet_until_ms = 0
        self._unreported = 0

    def report(self, busy: BusyPass) -> None:
        now_ms = self._scheduler.now_ms()
        if now_ms < self._quiet_until_ms:
            self._unreported += 1
            return
        self._quiet_until_ms = now_ms + _INTERVAL_MS
        more = f"; {self._unreported} more since the last report" if self._unreported else ""
        self._unreported = 0
        self._journal.record(Event(LOOP_BUSY, self._subject, f"{_describe(busy)}{more}"))


def _describe(busy: BusyPass) -> str:
    request = f" ({ApiKey(busy.api_key).name})" if busy.api_key != NO_API else ""
    return (
        f"nobody else was served for {busy.duration_ms} ms, {busy.cpu_ms} of them at work: "
        f"{busy.step_ms} in {busy.step}{request}"
    )
