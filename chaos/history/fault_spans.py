"""Faults from their beginnings to their ends, out of the rows that tell of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from logquake.chaos.history.rows import Kind, Row


class FaultSpan(NamedTuple):
    """``refused`` says why it could not be done."""

    begun: Row
    ends_us: int
    refused: str | None

    @property
    def kind(self) -> str:
        return str((self.begun.after or {}).get("kind", "fault"))

    @property
    def details(self) -> str:
        told = dict(self.begun.after or {})
        return " ".join(f"{name}={value}" for name, value in told.items() if name != "kind")


class FaultSpans:
    """take() rows by time; what stands at the end ends with the last row."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], Row] = {}
        self._ended: list[FaultSpan] = []

    def take(self, row: Row) -> None:
        if row.what == Kind.FAULT_BEGUN:
            self._open[row.process, row.sequence] = row
        elif row.what == Kind.FAULT_ENDED:
            begun = self._open.pop((row.process, row.caused_by or 0), None)
            if begun is not None:
                self._ended.append(FaultSpan(begun, row.at_us, row.why))

    def all(self, last_us: int) -> Iterator[FaultSpan]:
        """By their beginnings."""
        standing = [FaultSpan(begun, last_us, None) for begun in self._open.values()]
        yield from sorted(
            self._ended + standing, key=lambda one: (one.begun.at_us, one.ends_us, one.begun[1:5])
        )
