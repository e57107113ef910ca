"""What is shown of a run while it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from logquake.chaos.faults.value import FaultValue
from logquake.chaos.history.rows import Row


@dataclass(frozen=True, slots=True)
class Status:
    """One look. ``counts`` are rows by their kind, ``partitions`` the last row of what was observed
    of each, ``standing`` faults with their subjects.
    """

    phase: str
    elapsed_s: float
    counts: Mapping[str, int]
    partitions: Mapping[str, Row]
    standing: Sequence[tuple[FaultValue, str]]


class Screen(Protocol):
    """Called from several threads: say() by whoever plays the steps. happened() is told of all new
    rows of a look, by time.
    """

    def say(self, text: str) -> None: ...
    def happened(self, rows: Sequence[Row]) -> None: ...
    def show(self, status: Status) -> None: ...
