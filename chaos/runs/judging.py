"""Evidence to verdicts, and what is kept of them."""

from __future__ import annotations

import json
from collections import Counter

from logquake.chaos.history.reader import read_history
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import Finding, Judgement, judged
from logquake.chaos.runs.reading_back import FINAL_READER
from logquake.chaos.runs.run import Outcome
from logquake.chaos.scenarios.measures import measured
from logquake.chaos.scenarios.scenario import Scenario


def judge(scenario: Scenario, folder: RunFolder, outcome: Outcome) -> Judgement:
    """Nothing writes any more. Writes verdict.json."""
    counts = dict(Counter(row.what for row in read_history(folder.row_files())))
    findings: list[Finding] = []
    troubles = [*([outcome.not_played] if outcome.not_played else []), *outcome.not_whole]
    if outcome.given_up:
        troubles.append("the run was ended before its time")
    compacted = [
        topic.name
        for topic in scenario.setup.topics
        if "compact" in str(topic.config.get("cleanup.policy"))
    ]
    measures = measured(read_history(folder.row_files()), FINAL_READER, compacted)
    rows = read_history(folder.row_files())
    judgement = judged(findings, scenario.expect, rows, troubles, counts, measures)
    folder.verdict.write_text(json.dumps(judgement.to_json(), indent=2) + "\n")
    return judgement
