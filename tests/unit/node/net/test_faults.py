"""Clients at fault are reported, within bounds."""

from __future__ import annotations

from logquake.node.net.faults import FaultReports
from tests.doubles.journal import MemoryJournal
from tests.doubles.scheduler import ManualScheduler


def whys(journal: MemoryJournal) -> list[str]:
    return [event.why for event in journal.events]


def test_faults_are_reported_in_a_burst_then_one_a_second_with_a_count(
    scheduler: ManualScheduler, journal: MemoryJournal
) -> None:
    faults = FaultReports(scheduler, journal)
    for number in range(100):
        faults.report("client", f"fault {number}")
    assert whys(journal) == [f"fault {number}" for number in range(10)]
    scheduler.advance(1_000)
    faults.report("client", "late")
    faults.report("client", "too soon")
    assert whys(journal)[10:] == ["late (90 more since the last report)"]


def test_quiet_times_do_not_save_up_more_than_a_burst(
    scheduler: ManualScheduler, journal: MemoryJournal
) -> None:
    faults = FaultReports(scheduler, journal)
    scheduler.advance(3_600_000)
    for number in range(100):
        faults.report("client", f"fault {number}")
    assert len(journal.events) == 10
