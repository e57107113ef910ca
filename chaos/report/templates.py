"""What pages share: how they look, and how they tell of verdicts. What is put in is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from logquake.chaos.checkers.retelling import Retelling
from logquake.chaos.checkers.verdicts import Ruling, Verdict, Violation


def environment_of(folder: Path) -> Environment:
    """Of the templates in a folder, which may include style.css and verdicts.html."""
    return Environment(
        loader=FileSystemLoader([folder, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )


def verdicts_told(rulings: Sequence[Ruling], notes: Sequence[Violation]) -> dict[str, Any]:
    """What verdicts.html takes, but for ``meant``: the invariants that were to break."""
    return {
        "told": Retelling().sentences,
        "others": [one for one in rulings if one.verdict is not Verdict.HOLDS],
        "holding": [one for one in rulings if one.verdict is Verdict.HOLDS],
        "notes": notes,
    }
