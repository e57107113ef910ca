"""What happened to a partition, told in sentences: ZooKeeper's writes, journals, faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from logquake.chaos.checkers import sentences
from logquake.chaos.checkers.sentences import Told, clock
from logquake.chaos.evidence.decisions import StateWrite
from logquake.chaos.history.rows import Row

LONGEST = 16
_DECIDED = frozenset({"leader-elected", "unclean-leader-elected", "leader-lost", "isr-shrunk"})

_Outcome = tuple[str, int | None, tuple[int, ...]]
"""A partition, its leader epoch and its ISR."""


class Story:
    def __init__(
        self,
        states: Mapping[str, Iterable[StateWrite]],
        journals: Iterable[Row],
        faults: Iterable[Row],
    ) -> None:
        self._of: dict[str, list[Told]] = defaultdict(list)
        self._of_all = [sentences.of_fault(row) for row in faults]
        reasons = _Reasons()
        for row in journals:
            if not reasons.keep(row):
                self._tell(row)
        for partition, writes in states.items():
            told = (sentences.of_write(write, reasons.of(write)) for write in writes)
            self._of[partition] += told
        for row in reasons.left():
            self._tell(row)

    def _tell(self, row: Row) -> None:
        told = sentences.of_event(row)
        if told is not None:
            self._of[row.subject].append(told)

    def of(self, partition: str, since_us: int = 0) -> tuple[str, ...]:
        """From the last decision before that moment on; the weightiest, at most LONGEST."""
        own = sorted(self._of.get(partition, []))
        before = [told for told in own if told.at_us < since_us and told.weight > 0][-1:]
        later = [told for told in (*own, *self._of_all) if told.at_us >= since_us]
        kept = sorted(sorted(later, key=lambda told: (-told.weight, told.at_us))[:LONGEST])
        return tuple(f"{clock(told.at_us)} {told.text}" for told in (*before, *kept))


class _Reasons:
    """Why ISRs and leaders were changed, by what was written of it in journals.

    Within a leader epoch the leader proposes and knows why; from one to the next the controller
    decides. Apache Kafka's brokers keep no such journals.
    """

    def __init__(self) -> None:
        self._proposed: dict[_Outcome, list[Row]] = defaultdict(list)
        self._decided: dict[_Outcome, list[Row]] = defaultdict(list)
        self._used: set[tuple[str, int]] = set()

    def keep(self, row: Row) -> bool:
        """False: it is no such reason."""
        if row.what == "isr-proposed" and isinstance(row.after, list):
            self._proposed[row.subject, row.epoch, tuple(row.after)].append(row)
            return True
        if row.what in _DECIDED and isinstance(row.after, dict):
            after = row.after
            self._decided[row.subject, after["leader_epoch"], tuple(after["isr"])].append(row)
            return True
        return False

    def of(self, write: StateWrite) -> str:
        """What was said nearest in time; "" where nobody said anything."""
        is_proposed = write.before and write.before.leader_epoch == write.after.leader_epoch
        reasons = self._proposed if is_proposed else self._decided
        outcome = str(write.partition), write.after.leader_epoch, write.after.isr
        at_us = write.at_ms * 1000
        rows = reasons.get(outcome, ())
        found = min(rows, key=lambda row: abs(row.at_us - at_us), default=None)
        if found is None:
            return ""
        self._used.add((found.process, found.sequence))
        return found.why or ""

    def left(self) -> Iterator[Row]:
        """Proposals of which nothing came."""
        for rows in self._proposed.values():
            yield from (row for row in rows if (row.process, row.sequence) not in self._used)
