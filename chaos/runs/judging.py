"""Evidence to verdicts, and what is kept of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.judging import judge
from logquake.chaos.evidence.evidence import Evidence, gather_evidence
from logquake.chaos.history.reader import read_history
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import RunJudgement, judged
from logquake.chaos.runs.reading_back import FINAL_READER
from logquake.chaos.runs.run import Outcome
from logquake.chaos.scenarios.expectation import GroupBounds
from logquake.chaos.scenarios.measures import Measures, measured
from logquake.chaos.scenarios.memberships import memberships
from logquake.chaos.scenarios.scenario import Scenario
from logquake.chaos.scenarios.skips import skipped

GIVEN_UP = "the run was ended before its time"
DEFAULTS = ("min.insync.replicas", "unclean.leader.election.enable")


def judge_run(scenario: Scenario, folder: RunFolder, outcome: Outcome) -> RunJudgement:
    """Nothing writes any more. Writes verdict.json."""
    counts = Counter(row.what for row in read_history(folder.row_files()))
    judgement = judged(
        judge(_evidence(scenario, folder, outcome), Demands(**scenario.enough.model_dump())),
        scenario.expect,
        read_history(folder.row_files()),
        _troubles(outcome),
        dict(counts),
        _measured(scenario, folder),
    )
    folder.verdict.write_text(json.dumps(judgement.to_json(), indent=2) + "\n")
    return judgement


def _measured(scenario: Scenario, folder: RunFolder) -> Measures:
    compacted = [
        topic.name
        for topic in scenario.setup.topics
        if "compact" in str(topic.config.get("cleanup.policy"))
    ]
    measures = measured(read_history(folder.row_files()), FINAL_READER, compacted)
    if scenario.expect.groups != GroupBounds():
        groups = memberships(read_history(folder.row_files()))
        measures = replace(measures, groups=groups)
    if scenario.expect.skipped is None:
        return measures
    return replace(measures, skipped=skipped(read_history(folder.row_files()), FINAL_READER))


def _evidence(scenario: Scenario, folder: RunFolder, outcome: Outcome) -> Evidence:
    settings = scenario.setup.config
    return gather_evidence(
        sorted(folder.histories.glob("*.jsonl")),
        folder.cluster.root,
        defaults={name: str(settings[name]).lower() for name in DEFAULTS if name in settings},
        is_quiet=not (outcome.not_healed or outcome.not_whole),
        is_healed=not outcome.not_healed,
    )


def _troubles(outcome: Outcome) -> list[str]:
    return [
        *([outcome.not_played] if outcome.not_played else []),
        *outcome.not_healed,
        *outcome.not_whole,
        *outcome.not_ended,
        *([GIVEN_UP] if outcome.given_up else []),
    ]
