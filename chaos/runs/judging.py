"""Evidence to verdicts, and what is kept of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from logquake.chaos.checkers.demands import Demands
from logquake.chaos.checkers.judging import judge
from logquake.chaos.evidence.evidence import Evidence, applied_in, journals_of, logs_of
from logquake.chaos.history.line_columns import read_line_columns
from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Row
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import RunJudgement, judged
from logquake.chaos.runs.outcome import Outcome
from logquake.chaos.runs.reading_back import FINAL_READER
from logquake.chaos.scenarios.expectation import GroupBounds
from logquake.chaos.scenarios.measures import Measures, measured
from logquake.chaos.scenarios.memberships import memberships
from logquake.chaos.scenarios.scenario import Scenario
from logquake.chaos.scenarios.skips import skipped

DEFAULTS = ("min.insync.replicas", "unclean.leader.election.enable")


def judge_run(
    scenario: Scenario,
    folder: RunFolder,
    outcome: Outcome,
    take: Callable[[Row], object] = lambda _: None,
) -> RunJudgement:
    """Nothing writes any more. Writes verdict.json. ``take`` is given every row, by time, once."""
    judgement = judge(_evidence(scenario, folder, outcome), demands_of(scenario))
    counts = Counter[str]()
    rows = _told(read_history(folder.row_files()), counts, take)
    measures = _measured(scenario, folder, rows)
    run = judged(
        judgement,
        scenario.expect,
        read_history(folder.row_files()) if scenario.expect.seen else (),
        outcome.troubles(),
        dict(counts),
        measures,
    )
    folder.verdict.write_text(json.dumps(run.to_json(), indent=2) + "\n")
    return run


def _told(
    rows: Iterable[Row], counts: Counter[str], take: Callable[[Row], object]
) -> Iterator[Row]:
    """To read the rows of an hour takes longer than all that is done with them: so it is done at
    the same time.
    """
    for row in rows:
        counts[row.what] += 1
        take(row)
        yield row


def _measured(scenario: Scenario, folder: RunFolder, rows: Iterable[Row]) -> Measures:
    """Reads them to their end, and again for what few scenarios ask for."""
    compacted = [
        topic.name
        for topic in scenario.setup.topics
        if "compact" in str(topic.config.get("cleanup.policy"))
    ]
    measures = measured(rows, FINAL_READER, compacted)
    if scenario.expect.groups != GroupBounds():
        groups = memberships(read_history(folder.row_files()))
        measures = replace(measures, groups=groups)
    if scenario.expect.skipped is None:
        return measures
    return replace(measures, skipped=skipped(read_history(folder.row_files()), FINAL_READER))


def demands_of(scenario: Scenario) -> Demands:
    return Demands(**scenario.enough.model_dump())


def known_of(scenario: Scenario, outcome: Outcome) -> Evidence:
    """What is known of a run by who made it; nothing is gathered in it yet."""
    settings = scenario.setup.config
    return Evidence(
        defaults={name: str(settings[name]).lower() for name in DEFAULTS if name in settings},
        is_quiet=outcome.is_quiet,
        is_healed=outcome.is_healed,
    )


def _evidence(scenario: Scenario, folder: RunFolder, outcome: Outcome) -> Evidence:
    known, root = known_of(scenario, outcome), folder.cluster.root
    return replace(
        known,
        columns=read_line_columns(folder.history_files()),
        journals=journals_of(root),
        logs=logs_of(root),
        applied=applied_in(root),
    )
