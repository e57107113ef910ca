"""A bug's scenario, played on brokers that have the bug, or, for comparison, on sound ones."""

from __future__ import annotations

import time
from pathlib import Path

from logquake.chaos.hunts.finding import Finding, finding
from logquake.chaos.report.reporting import run_and_report
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import RunJudgement
from logquake.chaos.runs.status import Screen
from logquake.chaos.scenarios.files import SUFFIX, find_scenario, read_scenario
from logquake.chaos.scenarios.scenario import Scenario
from logquake.cluster.errors import ClusterError
from logquake.planted.bug import Hunt, PlantedBug
from logquake.planted.bugs import BUGS
from logquake.planted.planting import UnknownBugError, find_bug

SCENARIOS = Path(__file__).parent / "scenarios"
SEED = 1
# A bug that stops a partition for good is told after this time.
WHOLE_WITHIN_S = 30.0


def bugs_to_hunt(name: str) -> PlantedBug:
    """Raises ClusterError."""
    try:
        return find_bug(name)
    except UnknownBugError as error:
        raise ClusterError(str(error)) from error


def hunted(*, sound: bool = False) -> tuple[PlantedBug, ...]:
    """All that real brokers show; of those that share a scenario the first, where brokers are
    ``sound``: it is the same run for each.
    """
    bugs = tuple(bug for bug in BUGS if bug.hunt is not None)
    if not sound:
        return bugs
    first: dict[str, PlantedBug] = {}
    for bug in bugs:
        first.setdefault(_hunt_of(bug).scenario, bug)
    return tuple(first.values())


def hunt_scenario(hunt: Hunt) -> Scenario:
    """One of its own, or one of the catalogue."""
    path = SCENARIOS / f"{hunt.scenario}{SUFFIX}"
    if path.is_file():
        return read_scenario(path.read_text(), path.name)
    return find_scenario(hunt.scenario)


def hunt_bug(bug: PlantedBug, folder: RunFolder, screen: Screen, seed: int = SEED) -> Finding:
    """Raises ClusterError: it is not hunted so, or no cluster could be started."""
    hunt = _hunt_of(bug)
    began = time.monotonic()
    judgement = _played(hunt_scenario(hunt), (bug.name,), folder, screen, seed)
    return finding(bug, hunt, judgement, time.monotonic() - began)


def play_sound(bug: PlantedBug, folder: RunFolder, screen: Screen) -> RunJudgement:
    """The same on brokers without the bug. Raises ClusterError likewise."""
    return _played(hunt_scenario(_hunt_of(bug)), (), folder, screen)


def _played(
    scenario: Scenario,
    bugs: tuple[str, ...],
    folder: RunFolder,
    screen: Screen,
    seed: int = SEED,
) -> RunJudgement:
    setup = scenario.setup.model_copy(update={"planted_bugs": bugs})
    scenario = scenario.model_copy(update={"setup": setup, "seed": seed})
    return run_and_report(scenario, folder, screen, WHOLE_WITHIN_S)


def _hunt_of(bug: PlantedBug) -> Hunt:
    if bug.hunt is None:
        raise ClusterError(
            f"{bug.name} takes a coincidence that the simulation alone brings about: "
            "python -m pytest tests/sim -k planted"
        )
    return bug.hunt
