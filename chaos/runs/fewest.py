"""The fewest faults with which a run still fails, by running it again and again.

First those about the moments at which it went wrong, then halves, quarters and so on
(`chaos/schedules/shrinking.py`). A run fails again where one of the invariants breaks that broke
before: what else may break is another story.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from logquake.chaos.history.fault_spans import FaultSpans
from logquake.chaos.history.reader import read_file
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus, RunJudgement
from logquake.chaos.runs.run import HARNESS
from logquake.chaos.scenarios.scenario import Scenario
from logquake.chaos.schedules.schedule import Schedule
from logquake.chaos.schedules.shrinking import shrunk
from logquake.chaos.schedules.suspects import about, closed_up

Play = Callable[[Scenario, RunFolder, int], RunJudgement]


@dataclass(frozen=True, slots=True)
class Sought:
    """What went wrong, by the invariants that broke; none of them: whatever breaks is meant."""

    invariants: frozenset[str] = frozenset()
    suspects: Schedule = ()

    def is_in(self, judgement: RunJudgement) -> bool:
        if judgement.status is not ExitStatus.BROKE:
            return False
        broken = {one.invariant for one in judgement.broken}
        return not self.invariants or not self.invariants.isdisjoint(broken)


def sought_in(folder: RunFolder, schedule: Schedule) -> Sought:
    """Of a run that was judged, if it was."""
    if not folder.verdict.is_file():
        return Sought()
    judgement = RunJudgement.from_json(json.loads(folder.verdict.read_text()))
    moments_us = {
        min(times)
        for ruling in judgement.broken
        if (times := [one.since_us for one in ruling.violations if one.since_us])
    }
    names = frozenset(one.invariant for one in judgement.broken)
    return Sought(names, _suspects(folder, schedule, moments_us))


def _suspects(folder: RunFolder, schedule: Schedule, moments_us: Collection[int]) -> Schedule:
    history = folder.history_of(HARNESS)
    if not moments_us or not history.is_file():
        return ()
    spans, last_us = FaultSpans(), 0
    for row in read_file(history):
        spans.take(row)
        last_us = row.at_us
    return about(schedule, list(spans.all(last_us)), moments_us)


class Fewest:
    """Each smaller schedule is run up to ``tries`` times, in folders of their own under ``root``.

    ``play`` is handed the scenario, its folder, and how many runs there were. It raises what ends
    the search; ``left`` and ``folder`` are then the fewest faults so far, and the last run in which
    they failed, None before there was one.
    """

    def __init__(
        self, scenario: Scenario, sought: Sought, root: Path, tries: int, play: Play
    ) -> None:
        self._scenario = scenario
        self._sought = sought
        self._root = root
        self._tries = tries
        self._play = play
        self._runs = 0
        self.left: Schedule = scenario.schedule or ()
        self.folder: RunFolder | None = None

    def search(self) -> bool:
        """Whether it failed again at all."""
        suspects = self._sought.suspects
        if not (suspects and self._fails(suspects)) and not self._fails(self.left):
            return False
        shrunk(self.left, self._fails)
        return True

    def _fails(self, schedule: Schedule) -> bool:
        if len(schedule) < len(self._scenario.schedule or ()):
            schedule = closed_up(schedule)
        return any(self._fails_now(schedule) for _ in range(self._tries))

    def _fails_now(self, schedule: Schedule) -> bool:
        self._runs += 1
        folder = RunFolder(self._root / f"run-{self._runs}")
        tried = self._scenario.model_copy(update={"schedule": schedule})
        judgement = self._play(tried, folder, self._runs)
        fails = self._sought.is_in(judgement)
        useless = self.folder if fails else folder
        if useless is not None:
            useless.remove_cluster()
        if fails:
            self.left, self.folder = schedule, folder
        return fails
