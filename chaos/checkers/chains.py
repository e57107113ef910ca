"""What happened to a partition, told in sentences: ZooKeeper's writes, journals, faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from logquake.chaos.evidence.decisions import StateWrite
from logquake.chaos.history.rows import Kind, Row
from logquake.wire.sentinels import NO_LEADER

LONGEST = 16
_OF_INTEREST = frozenset(
    {
        "log-truncated",
        "committed-truncated",
        "log-restarted",
        "log-begun-with-batch",
        "log-repaired",
        "log-start-raised",
        "replica-empty",
        "records-damaged",
        "unclean-leader-elected",
        "leader-lost",
        "log-dir-failed",
        "transaction-timed-out",
        "coordinator-loaded",
        "log-cleaned",
        "isr-proposed",
        "role-changed",
    }
)
_MINOR = frozenset({"isr-proposed", "role-changed"})


class Told(NamedTuple):
    """``weight``: what weighs least is left out first, where there is too much to tell."""

    at_us: int
    weight: int
    text: str


class Story:
    def __init__(
        self,
        states: Mapping[str, Iterable[StateWrite]],
        journals: Iterable[Row],
        faults: Iterable[Row],
    ) -> None:
        self._of: dict[str, list[Told]] = defaultdict(list)
        self._of_all = [_fault(row) for row in faults]
        for partition, writes in states.items():
            self._of[partition] += map(_state, writes)
        for row in journals:
            if row.what in _OF_INTEREST:
                self._of[row.subject].append(_event(row))

    def of(self, partition: str, since_us: int = 0) -> tuple[str, ...]:
        """From the last decision before that moment on; the weightiest, at most LONGEST."""
        own = sorted(self._of.get(partition, []))
        before = [told for told in own if told.at_us < since_us and told.weight > 0][-1:]
        later = [told for told in (*own, *self._of_all) if told.at_us >= since_us]
        kept = sorted(sorted(later, key=lambda told: (-told.weight, told.at_us))[:LONGEST])
        return tuple(f"{clock(told.at_us)} {told.text}" for told in (*before, *kept))


def clock(at_us: int) -> str:
    """The time of day, UTC, in milliseconds."""
    return f"{datetime.fromtimestamp(at_us / 1e6, UTC):%H:%M:%S.%f}"[:-3]


def _state(write: StateWrite) -> Told:
    before, after, name = write.before, write.after, write.partition
    at_us, isr = write.at_ms * 1000, list(after.isr)
    if before is None:
        return Told(at_us, 2, f"{name} begins: broker {after.leader} leads it, its ISR is {isr}")
    if after.leader == NO_LEADER:
        text = f"{name} has no leader from epoch {after.leader_epoch} on, its ISR stays {isr}"
        return Told(at_us, 3, text)
    if write.is_unclean:
        return Told(
            at_us,
            5,
            f"broker {after.leader} was elected unclean to lead {name} at epoch "
            f"{after.leader_epoch}: it was not in the ISR {list(before.isr)}",
        )
    if before.leader != after.leader:
        former = "nobody" if before.leader == NO_LEADER else f"broker {before.leader}"
        return Told(
            at_us,
            3,
            f"broker {after.leader} was elected to lead {name} at epoch {after.leader_epoch}, "
            f"after {former}; its ISR is {isr}, it was {list(before.isr)}",
        )
    text = f"the ISR of {name} went from {list(before.isr)} to {isr} at epoch {after.leader_epoch}"
    return Told(at_us, 1, text)


def _event(row: Row) -> Told:
    broker = row.process.replace("-", " ")
    epoch = "" if row.epoch is None else f" at epoch {row.epoch}"
    if row.what in ("log-truncated", "committed-truncated"):
        begin = "" if row.before is None else f" from {row.before}"
        text = f"{broker} truncated {row.subject}{begin} to {row.after}{epoch}"
        return Told(row.at_us, 5, f"{text}: {row.why}")
    begin = "" if row.before is None else f"{row.before} "
    moved = "" if row.after is None else f" ({begin}to {row.after})"
    weight = 0 if row.what in _MINOR else 4
    return Told(row.at_us, weight, f"{broker}: {row.what}{moved}{epoch}: {row.why}")


def _fault(row: Row) -> Told:
    if row.what == Kind.FAULT_ENDED:
        return Told(row.at_us, 1, f"the fault on {row.subject} ended")
    kind = row.after.get("kind", "a fault") if isinstance(row.after, dict) else "a fault"
    return Told(row.at_us, 4, f"{kind} was done to {row.subject}{f': {row.why}' * bool(row.why)}")
