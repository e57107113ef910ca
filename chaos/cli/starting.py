"""A scenario from its name, a seed and a folder to a run and what it is worth."""

from __future__ import annotations

import json
import random
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rich.console import Console

from logquake.chaos.cli.cards import card_in, print_card
from logquake.chaos.cli.printing import print_judgement
from logquake.chaos.history.reader import read_history
from logquake.chaos.report.page import PageRows, write_report
from logquake.chaos.report.reporting import run_and_report
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus, RunJudgement
from logquake.chaos.runs.screen import LiveScreen, NoScreen, PlainScreen
from logquake.chaos.runs.status import Screen
from logquake.chaos.scenarios.catalogue_state import INSIDE, lacking
from logquake.chaos.scenarios.clients import needs_java, over_clients
from logquake.chaos.scenarios.files import find_scenario, read_scenario
from logquake.chaos.scenarios.scenario import Scenario
from logquake.chaos.schedules.aims import Aims
from logquake.chaos.schedules.drawing import draw
from logquake.chaos.workloads.java_program import java_program
from logquake.chaos.workloads.plan import ClientLibrary
from logquake.cluster.errors import ClusterError
from logquake.cluster.kafka.libraries import find_libraries

_SEEDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Manner:
    """``folder`` is where all of it goes; ``keep`` the replicas' files, whatever the verdict;
    ``card`` watches clients; with ``kafka`` the brokers are Apache Kafka's; ``clients`` are whose
    all workloads run over, where it is said: over each of several.
    """

    folder: Path | None = None
    keep: bool = False
    card: bool = False
    kafka: bool = False
    clients: tuple[ClientLibrary, ...] = ()
    quiet: bool = False


def run_scenario(
    name: str,
    seed: int | None,
    duration_s: float | None,
    manner: Manner,
) -> ExitStatus:
    """Raises ClusterError for bad usage."""
    scenario = find_scenario(name)
    if duration_s is not None:
        if scenario.storm is None:
            raise ClusterError(f"{scenario.name} is no storm: its steps say how long it takes")
        storm = scenario.storm.model_copy(update={"duration": duration_s})
        scenario = scenario.model_copy(update={"storm": storm})
    if manner.card:
        scenario = _set_up(scenario, watch=True)
    if manner.kafka:
        scenario = _of_kafka(scenario)
    if manner.clients:
        scenario = _over(scenario, manner.clients)
    chosen = random.randrange(_SEEDS) if seed is None else seed
    return _run(drawn(scenario, chosen), manner)


def _over(scenario: Scenario, clients: tuple[ClientLibrary, ...]) -> Scenario:
    try:
        return over_clients(scenario, clients)
    except ValueError as error:
        raise ClusterError(str(error)) from error


def _set_up(scenario: Scenario, **changes: bool) -> Scenario:
    setup = scenario.setup.model_copy(update=changes)
    return scenario.model_copy(update={"setup": setup})


def _of_kafka(scenario: Scenario) -> Scenario:
    """A storm leaves out what cannot be done to it; steps that need that are refused."""
    if scenario.storm is not None:
        kinds = {kind: n for kind, n in scenario.storm.kinds.items() if kind not in INSIDE}
        storm = scenario.storm.model_copy(update={"kinds": kinds})
        scenario = scenario.model_copy(update={"storm": storm})
    return _set_up(scenario, kafka=True)


def replay_run(folder: Path, manner: Manner) -> ExitStatus:
    """Raises ClusterError for bad usage."""
    return _run(scenario_of(folder), manner)


def report_run(folder: Path) -> None:
    """Raises ClusterError where no run was judged."""
    run_folder = RunFolder.at(folder)
    if not run_folder.verdict.is_file():
        raise ClusterError(f"{folder} holds no run that was judged")
    judgement = RunJudgement.from_json(json.loads(run_folder.verdict.read_text()))
    rows = PageRows()
    for row in read_history(run_folder.row_files()):
        rows.take(row)
    write_report(scenario_of(folder), run_folder, judgement, rows)
    print(run_folder.report)


def drawn(scenario: Scenario, seed: int) -> Scenario:
    """The same with its seed, and with a schedule in place of a storm."""
    if scenario.storm is None:
        return scenario.model_copy(update={"seed": seed})
    setup = scenario.setup
    aims = Aims(range(1, setup.brokers + 1), setup.partitions, setup.zookeepers)
    schedule = draw(scenario.storm, aims, seed)
    return scenario.model_copy(update={"seed": seed, "schedule": schedule, "storm": None})


def _run(scenario: Scenario, manner: Manner) -> ExitStatus:
    lacks = lacking(scenario)
    if lacks is not None:
        raise ClusterError(f"{scenario.name} cannot be run yet: {lacks}")
    if scenario.setup.kafka:
        find_libraries()  # before anything is made
    if needs_java(scenario):
        java_program()  # compiled once, not by each of its processes
    run_folder = RunFolder((manner.folder or _folder_for(scenario)).resolve())
    console = Console()
    try:
        title = f"{scenario.title} (seed {scenario.seed})"
        with screen_of(title, console, quiet=manner.quiet) as screen:
            judgement = run_and_report(scenario, run_folder, screen)
    except ClusterError as error:
        console.print(f"logquake: {error}", markup=False, highlight=False)
        return ExitStatus.ENVIRONMENT
    if not manner.keep and judgement.status is ExitStatus.HELD:
        run_folder.remove_cluster()
    if not manner.quiet:
        print_judgement(judgement, run_folder, console)
    if scenario.is_watched and not manner.quiet:
        print_card(card_in(run_folder))
    return judgement.status


def screen_of(title: str, console: Console, *, quiet: bool) -> AbstractContextManager[Screen]:
    if quiet:
        return nullcontext(NoScreen())
    if console.is_terminal:
        return LiveScreen(title, console)
    return nullcontext(PlainScreen(console))


def scenario_of(folder: Path) -> Scenario:
    """Raises ClusterError."""
    path = folder if folder.is_file() else RunFolder(folder).scenario
    if not path.is_file():
        raise ClusterError(f"{folder} is no folder of a run: it has no run.yaml")
    return read_scenario(path.read_text(), str(path))


def _folder_for(scenario: Scenario) -> Path:
    return Path(f"chaos-{scenario.name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}")
