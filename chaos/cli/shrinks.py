"""``logquake chaos shrink``: runs again and again, and what is told of them."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console

from logquake.chaos.cli.starting import scenario_of, screen_of
from logquake.chaos.report.reporting import run_and_report
from logquake.chaos.runs.fewest import Fewest, Sought, sought_in
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus, RunJudgement
from logquake.chaos.runs.outcome import GIVEN_UP
from logquake.chaos.scenarios.scenario import Scenario
from logquake.cluster.errors import ClusterError


def shrink_run(folder: Path, tries: int, report: Path | None) -> ExitStatus:
    """BROKE with what is left, INCONCLUSIVE where nothing failed again, or somebody ended it.

    Raises ClusterError for bad usage.
    """
    scenario = scenario_of(folder)
    if not scenario.schedule:
        raise ClusterError(f"{folder} has no schedule to be shrunk: steps are read by people")
    root = (report or Path(f"{folder.resolve().name}-shrunk")).resolve()
    sought = sought_in(RunFolder.at(folder), scenario.schedule)
    told = _Told(len(scenario.schedule), Console())
    told.begin(sought, tries)
    search = Fewest(scenario, sought, root, tries, told.play)
    try:
        failed_again = search.search()
    except (KeyboardInterrupt, ClusterError) as ended:
        told.say(f"ended before its time: {ended or 'by hand'}")
        told.end(search)
        is_cluster = isinstance(ended, ClusterError)
        return ExitStatus.ENVIRONMENT if is_cluster else ExitStatus.INCONCLUSIVE
    told.end(search)
    return ExitStatus.BROKE if failed_again else ExitStatus.INCONCLUSIVE


class _Told:
    """On a terminal each run has its screen; a line for each run stays."""

    def __init__(self, faults: int, console: Console) -> None:
        self._faults = faults
        self._console = console
        self._runs = 0

    def say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def begin(self, sought: Sought, tries: int) -> None:
        what = ", ".join(sorted(sought.invariants)) or "whatever was not meant to break"
        self.say(f"{self._faults} faults; sought is a part of them with which this breaks: {what}.")
        if sought.suspects:
            self.say(f"First the {len(sought.suspects)} that stood when it broke first.")
        self.say(f"Each part is run up to {tries} times before it is thought harmless.")

    def play(self, scenario: Scenario, folder: RunFolder, number: int) -> RunJudgement:
        """Raises ClusterError; KeyboardInterrupt where somebody ended the run."""
        self._runs = number
        title = f"run {number}: {len(scenario.schedule or ())} of {self._faults} faults"
        began = time.monotonic()
        with screen_of(title, self._console, quiet=not self._console.is_terminal) as screen:
            judgement = run_and_report(scenario, folder, screen)
        if GIVEN_UP in judgement.troubles:
            raise KeyboardInterrupt
        self.say(f"{title}, {time.monotonic() - began:.0f} s: {_outcome(judgement)}")
        return judgement

    def end(self, search: Fewest) -> None:
        if search.folder is None:
            self.say("It did not fail again: try more tries, or another machine.")
            return
        left = search.left
        what = f"with {len(left)} of {self._faults} faults" if left else "without any fault"
        self.say(f"After {self._runs} runs it still fails {what}:" if left else f"It fails {what}.")
        for planned in left:
            self.say(f"  {planned}")
        self.say(str(search.folder.report))
        self.say(f"logquake chaos replay {search.folder.root}")


def _outcome(judgement: RunJudgement) -> str:
    return ", ".join(judgement.unexpected) or "nothing broke"
