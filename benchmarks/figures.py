"""What a benchmark yields: named figures of one case, one target, one round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

# Figures by column name, the unit in the name; seconds per GB and per request are of CPU.
# A figure that cannot be had is left out.
Figures = Mapping[str, float]

WARM_UP = "warm-up s"  # how long a target took until it was measured: a ratio says nothing


@dataclass(frozen=True, slots=True)
class Result:
    """One round of one case on one target."""

    case: str
    target: str
    round: int
    figures: Figures


def cases_of(results: Iterable[Result]) -> list[str]:
    """In the order in which they were measured."""
    return list(dict.fromkeys(result.case for result in results))


def targets_of(results: Iterable[Result]) -> list[str]:
    return list(dict.fromkeys(result.target for result in results))


def medians(results: Iterable[Result], case: str, target: str) -> dict[str, float]:
    """The median of each figure over the rounds; empty when the target was not measured."""
    values: dict[str, list[float]] = {}
    for result in results:
        if (result.case, result.target) == (case, target):
            for name, value in result.figures.items():
                values.setdefault(name, []).append(value)
    return {name: median(found) for name, found in values.items()}


def rate(figures: Figures) -> float:
    """What rises while a target gets warm; 0 where no figure says how fast it was."""
    for name, value in figures.items():
        if name.endswith("/s"):
            return value
    return 1 / figures["p50 ms"] if "p50 ms" in figures else 0.0


def ratios(ours: Figures, peers: Figures) -> dict[str, float]:
    """Ours divided by the peer's, for each figure that both have."""
    return {name: ours[name] / peers[name] for name in ours if peers.get(name) and name != WARM_UP}
