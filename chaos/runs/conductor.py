"""Begins faults, heals them, and writes both into the history.

Faults overlap, and each is begun and healed on whatever thread its turn falls. One that can't be
done (the broker that it aims at is down, the office is free) is written down as begun and ended at
once, with the reason, and the run goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from logquake.chaos.faults.aiming import aimed, subject_of
from logquake.chaos.faults.performing import Performed, Stage, perform
from logquake.chaos.faults.value import FaultValue
from logquake.chaos.history.rows import Kind
from logquake.chaos.history.writer import HistoryWriter
from logquake.cluster.errors import ClusterError


@dataclass(frozen=True, slots=True)
class Standing:
    """A fault that was begun: what it is, to whom it was done, and its row."""

    fault: FaultValue
    subject: str
    row: int
    performed: Performed


class Conductor:
    """Callable from any thread."""

    def __init__(self, stage: Stage, history: HistoryWriter) -> None:
        self._stage = stage
        self._history = history
        self._lock = Lock()
        self._standing: list[Standing] = []

    @property
    def standing(self) -> tuple[Standing, ...]:
        """Oldest first."""
        with self._lock:
            return tuple(self._standing)

    def begin(self, fault: FaultValue, why: str | None = None) -> Standing | None:
        """Do it, and return when it is done; None where it can't be."""
        subject, row = subject_of(fault), None
        try:
            fault = aimed(fault, self._stage.cluster)
            subject = subject_of(fault)
            row = self._begun(fault, subject, why)
            performed = perform(fault, self._stage)
        except ClusterError as error:
            begun = self._begun(fault, subject, why) if row is None else row
            refusal = f"it could not be done: {str(error).splitlines()[0]}"
            self._history.record(Kind.FAULT_ENDED, subject, why=refusal, caused_by=begun)
            return None
        standing = Standing(fault, subject, row, performed)
        with self._lock:
            self._standing.append(standing)
        return standing

    def heal(self, standing: Standing) -> None:
        """Undo it, unless that was done. One that can't be undone now is undone by heal_all()."""
        with self._lock:
            if standing not in self._standing:
                return
        try:
            standing.performed.undo()
        except ClusterError:
            return
        with self._lock:
            self._standing.remove(standing)
        self._history.record(Kind.FAULT_ENDED, standing.subject, caused_by=standing.row)

    def heal_all(self) -> list[Standing]:
        """The newest first; those that could not be undone."""
        for standing in reversed(self.standing):
            self.heal(standing)
        return list(self.standing)

    def _begun(self, fault: FaultValue, subject: str, why: str | None) -> int:
        after = fault.model_dump(mode="json")
        return self._history.record(Kind.FAULT_BEGUN, subject, after=after, why=why)
