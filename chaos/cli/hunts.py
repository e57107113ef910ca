"""``logquake chaos bugs`` and ``logquake chaos hunt``: bugs that are planted, and found."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from logquake.chaos.cli.starting import screen_of
from logquake.chaos.hunts.finding import Finding
from logquake.chaos.hunts.hunting import hunt_bug, hunt_scenario, play_sound
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus
from logquake.cluster.errors import ClusterError
from logquake.planted.bug import PlantedBug


def list_bugs(bugs: Iterable[PlantedBug], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([_described(bug) for bug in bugs], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("bug", "room", "at Apache's", "found by", "what is wrong"):
        table.add_column(heading)
    for bug in bugs:
        table.add_row(bug.name, bug.room, bug.reference, _found_by(bug), bug.wrong)
    Console(soft_wrap=True).print(table)


def hunt_bugs(
    bugs: Iterable[PlantedBug], report: Path | None, *, sound: bool, as_json: bool, quiet: bool
) -> ExitStatus:
    """Each in a folder of its own. BROKE where one was missed; or, of sound brokers, where an
    invariant broke.
    """
    console = Console(stderr=as_json)
    root = report or Path(f"hunt-{datetime.now().astimezone():%Y%m%d-%H%M%S}")
    told: list[dict[str, object]] = []
    status = ExitStatus.HELD
    for bug in bugs:
        try:
            said, is_well = _hunt_one(bug, root, console, sound=sound, quiet=quiet or as_json)
        except ClusterError as error:
            console.print(f"logquake: {error}", markup=False, highlight=False)
            return ExitStatus.ENVIRONMENT
        told.append(said)
        status = status if is_well else ExitStatus.BROKE
    if as_json:
        print(json.dumps(told, indent=2))
    return status


def _hunt_one(
    bug: PlantedBug, root: Path, console: Console, *, sound: bool, quiet: bool
) -> tuple[dict[str, object], bool]:
    """What is said of it, and whether it is as it should be."""
    folder = RunFolder((root / bug.name).resolve())
    title = f"{bug.name}, {'sound' if sound else 'planted'}"
    with screen_of(title, console, quiet=quiet) as screen:
        if sound:
            judgement = play_sound(bug, folder, screen)
            is_well = judgement.status is not ExitStatus.BROKE
            broken = ", ".join(judgement.unexpected) or "nothing broke"
            console.print(f"{bug.name}, not planted: {broken}", markup=False, highlight=False)
            return {"bug": bug.name, "broken": judgement.unexpected}, is_well
        found = hunt_bug(bug, folder, screen)
    _print_finding(found, folder, console)
    return found.to_json(), found.is_caught


def _print_finding(found: Finding, folder: RunFolder, console: Console) -> None:
    console.print(
        f"{found.bug} ({found.reference}): {_how(found)} in {found.seconds:.0f} s of "
        f"{found.budget_s}",
        highlight=False,
    )
    if found.violation is not None:
        console.print(f"  {found.violation.invariant}: {found.violation.text}", markup=False)
        for sentence in found.violation.chain:
            console.print(f"    {sentence}", markup=False, highlight=False)
    else:
        broken = ", ".join(found.broken) or "nothing"
        console.print(f"  broken is {broken}, and nothing of it names the cause", markup=False)
        for trouble in found.troubles:
            console.print(f"  {trouble}", markup=False, highlight=False)
    console.print(f"  {folder.report}", markup=False, highlight=False)


def _how(found: Finding) -> str:
    if found.is_caught:
        return "[green]caught[/]"
    return "[red]MISSED[/]" if found.violation is None else "[yellow]caught too late[/]"


def _found_by(bug: PlantedBug) -> str:
    if bug.hunt is None:
        return "the simulation"
    return f"{', '.join(bug.hunt.breaks)} within {bug.hunt.budget_s} s"


def _described(bug: PlantedBug) -> dict[str, object]:
    hunt, simulated = bug.hunt, bug.simulated
    return {
        "name": bug.name,
        "room": bug.room,
        "reference": bug.reference,
        "wrong": bug.wrong,
        "plant": bug.plant,
        "hunt": hunt
        and {
            "scenario": hunt.scenario,
            "title": hunt_scenario(hunt).title,
            "breaks": hunt.breaks,
            "cause": hunt.cause,
            "budget_s": hunt.budget_s,
        },
        "simulated": simulated and {"world": simulated.world, "breaks": simulated.breaks},
    }
