"""What is said at the end, and the list of scenarios."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table

from logquake.chaos.checkers.retelling import Retelling
from logquake.chaos.checkers.verdicts import Ruling, Verdict
from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus, RunJudgement
from logquake.chaos.scenarios.catalogue_state import lacking
from logquake.chaos.scenarios.files import catalogue

_SHOWN_VIOLATIONS = 3
_MARKS = {
    Verdict.HOLDS: "[green]holds[/]",
    Verdict.BROKEN: "[red]BROKEN[/]",
    Verdict.INCONCLUSIVE: "[yellow]inconclusive[/]",
}
_CLOSING = {
    ExitStatus.HELD: "[bold green]Held.[/] What was to hold held, what was to be seen was seen.",
    ExitStatus.BROKE: "[bold red]Broke.[/] What was to hold did not: it is said above.",
    ExitStatus.INCONCLUSIVE: "[bold yellow]Inconclusive.[/] What was lacking is said above.",
}


def print_catalogue(*, as_json: bool) -> None:
    if as_json:
        print(json.dumps([_described(one.name) for one in catalogue()], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("", "scenario", "what is to be seen"):
        table.add_column(heading)
    for one in catalogue():
        lacks = lacking(one)
        title = one.title if lacks is None else f"[dim]{one.title} (not yet: {lacks})[/]"
        table.add_row("" if one.number is None else str(one.number), one.name, title)
    Console(soft_wrap=True).print(table)


def _described(name: str) -> dict[str, object]:
    scenario = next(one for one in catalogue() if one.name == name)
    return {
        "name": name,
        "number": scenario.number,
        "title": scenario.title,
        "lacks": lacking(scenario),
    }


def print_judgement(judgement: RunJudgement, folder: RunFolder, console: Console) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("invariant")
    table.add_column("")
    table.add_column("")
    for ruling in judgement.rulings:
        table.add_row(ruling.invariant, _MARKS[ruling.verdict], ruling.why)
    console.print(table, soft_wrap=True)
    retelling = Retelling()
    for ruling in judgement.rulings:
        if ruling.verdict is Verdict.BROKEN:
            _print_violations(ruling, retelling, console)
    counts, measures = judgement.counts, judgement.measures
    skipped = f"{measures.skipped:,} skipped by a reader, " if measures.skipped else ""
    console.print(
        f"{counts.get('acked', 0):,} acked, {counts.get('unknown', 0):,} unknown, "
        f"{measures.lost:,} acked and lost, {measures.doubled:,} there more than once, "
        f"{skipped}{measures.pace}",
        highlight=False,
        soft_wrap=True,
    )
    if measures.groups.generations:
        console.print(str(measures.groups), highlight=False, soft_wrap=True)
    for line in (*judgement.unexpected, *judgement.unmet, *judgement.troubles):
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    console.print(_CLOSING[judgement.status])
    console.print(f"{folder.report}", markup=False, highlight=False, soft_wrap=True)


def _print_violations(ruling: Ruling, retelling: Retelling, console: Console) -> None:
    more = " and more" if ruling.more else ""
    console.print(f"\n[red]{ruling.invariant}[/]: {len(ruling.violations)}{more}")
    for violation in ruling.violations[:_SHOWN_VIOLATIONS]:
        console.print(f"  {violation.text}", markup=False, highlight=False, soft_wrap=True)
        for sentence in retelling.sentences(violation):
            console.print(f"    {sentence}", markup=False, highlight=False, soft_wrap=True)
