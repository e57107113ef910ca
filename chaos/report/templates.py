"""What pages share: how they look, and how they tell of verdicts. What is put in is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from logquake.chaos.checkers.retelling import Retelling
from logquake.chaos.checkers.verdicts import Ruling, Verdict, Violation

_SHARED = "logquake.chaos.report"


def environment_of(package: str) -> Environment:
    """Of the templates of a package, which may include style.css and verdicts.html. It may have
    come as a wheel that nobody has unpacked.
    """
    return Environment(
        loader=ChoiceLoader([PackageLoader(each, "") for each in (package, _SHARED)]),
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
