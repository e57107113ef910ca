"""Results for people (tables of medians and ratios) or for programs (JSON, every round)."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figures, Result, cases_of, medians, ratios, targets_of

_WIDTH_WHERE_PIPED = 150


class Output(StrEnum):
    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"


def report(
    results: Sequence[Result], output: Output, first: str, against: Sequence[str] = ()
) -> None:
    """Print them. Ratios are those of the target named ``first`` to each other one, in markdown to
    the last one, or to those that are named.
    """
    if output is Output.JSON:
        print(json.dumps(document(results, first), indent=2))
    elif output is Output.MARKDOWN:
        print("\n".join(markdown(results, first, against)))
    else:
        _print_tables(results, first)


def document(results: Sequence[Result], first: str) -> dict[str, Any]:
    """Where and when, every round, the medians and the ratios."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "results": [asdict(result) for result in results],
        "medians": {case: dict(_lines(results, case, first)) for case in cases_of(results)},
    }


def markdown(results: Sequence[Result], first: str, against: Sequence[str] = ()) -> list[str]:
    """The lines of one table: a row for each figure of a case, a column for each target.

    Behind them are the ratios of the first target to those that are named, or to the last one.
    """
    targets = targets_of(results)
    against = against or targets[-1:]
    rows = [["case", "figure", *targets, *(f"{first} / {peer}" for peer in against)]]
    rows.append(["---"] * len(rows[0]))
    for case in cases_of(results):
        found = [medians(results, case, target) for target in targets]
        ours = medians(results, case, first)
        found += [ratios(ours, medians(results, case, peer)) for peer in against]
        for column in _columns(results, case):
            cells = [_cell(figures, column) for figures in found]
            rows.append([case, column, *cells])
    return [f"| {' | '.join(row)} |" for row in rows]


def _print_tables(results: Sequence[Result], first: str) -> None:
    """One table for each run of cases that have the same columns."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH_WHERE_PIPED)
    groups: dict[tuple[str, ...], list[str]] = {}
    for case in cases_of(results):
        groups.setdefault(_columns(results, case), []).append(case)
    for columns, cases in groups.items():
        table = Table("case", "target", box=None, pad_edge=False)
        for column in columns:
            table.add_column(column, justify="right")
        for case in cases:
            for target, figures in _lines(results, case, first):
                table.add_row(case, target, *(_cell(figures, column) for column in columns))
        console.print(table)
        console.print()


def _columns(results: Sequence[Result], case: str) -> tuple[str, ...]:
    """Those of the target that has most: of a foreign peer some figures are not known."""
    found = [tuple(medians(results, case, target)) for target in targets_of(results)]
    return max(found, key=len)


def _lines(results: Sequence[Result], case: str, first: str) -> list[tuple[str, Figures]]:
    """Medians of each target that the case applies to, then ratios of the first to the others."""
    found = {target: medians(results, case, target) for target in targets_of(results)}
    lines: list[tuple[str, Figures]] = [(name, one) for name, one in found.items() if one]
    if found.get(first):
        lines += [
            (f"{first} / {name}", ratios(found[first], one))
            for name, one in found.items()
            if name != first and one
        ]
    return lines


def _cell(figures: Figures, column: str) -> str:
    value = figures.get(column)
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"
