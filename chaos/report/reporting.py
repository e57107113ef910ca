"""A run from its start to its page."""

from __future__ import annotations

from logquake.chaos.report.page import PageRows, write_report
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import RunJudgement
from logquake.chaos.runs.judging import judge_run
from logquake.chaos.runs.quiescing import WHOLE_WITHIN_S
from logquake.chaos.runs.run import Run
from logquake.chaos.runs.status import Screen
from logquake.chaos.scenarios.scenario import Scenario


def run_and_report(
    scenario: Scenario, folder: RunFolder, screen: Screen, whole_within_s: float = WHOLE_WITHIN_S
) -> RunJudgement:
    """Raises ClusterError where no cluster can be started, say."""
    outcome = Run(scenario, folder, screen, whole_within_s).carry_out()
    screen.say("judging what it left behind")
    rows = PageRows()
    judgement = judge_run(scenario, folder, outcome, rows.take)
    write_report(scenario, folder, judgement, rows)
    return judgement
