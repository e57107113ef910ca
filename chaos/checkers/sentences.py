"""What happened, each in a sentence: writes of states, events of journals, faults."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from logquake.chaos.evidence.decisions import StateWrite
from logquake.chaos.history.rows import Kind, Row
from logquake.wire.sentinels import NO_LEADER

_TRUNCATIONS = frozenset({"log-truncated", "committed-truncated"})
_OF_INTEREST = frozenset(
    {
        "log-restarted",
        "log-begun-with-batch",
        "log-repaired",
        "log-start-raised",
        "replica-empty",
        "records-damaged",
        "log-dir-failed",
        "transaction-timed-out",
        "coordinator-loaded",
        "log-cleaned",
        "isr-proposed",
    }
)


class Told(NamedTuple):
    """``weight``: what weighs least is left out first, where there is too much to tell."""

    at_us: int
    weight: int
    text: str


def clock(at_us: int) -> str:
    """The time of day, UTC, in milliseconds."""
    return f"{datetime.fromtimestamp(at_us / 1e6, UTC):%H:%M:%S.%f}"[:-3]


def of_write(write: StateWrite, why: str = "") -> Told:
    """``why`` is the reason that somebody's journal gives."""
    weight, text = _decided(write)
    is_said = write.before is not None and why
    return Told(write.at_ms * 1000, weight, f"{text} ({why})" if is_said else text)


def _decided(write: StateWrite) -> tuple[int, str]:
    before, after, name = write.before, write.after, write.partition
    isr = list(after.isr)
    if before is None:
        return 2, f"{name} begins: broker {after.leader} leads it, its ISR is {isr}"
    if after.leader == NO_LEADER:
        return 3, f"{name} has no leader from epoch {after.leader_epoch} on, its ISR stays {isr}"
    if write.is_unclean:
        return (
            5,
            f"broker {after.leader} was elected unclean to lead {name} at epoch "
            f"{after.leader_epoch}: it was not in the ISR {list(before.isr)}",
        )
    if before.leader != after.leader:
        former = "nobody" if before.leader == NO_LEADER else f"broker {before.leader}"
        return (
            3,
            f"broker {after.leader} was elected to lead {name} at epoch {after.leader_epoch}, "
            f"after {former}; its ISR is {isr}, it was {list(before.isr)}",
        )
    return (
        1,
        f"the ISR of {name} went from {list(before.isr)} to {isr} at epoch {after.leader_epoch}",
    )


def of_event(row: Row) -> Told | None:
    """None where it adds nothing to what was decided."""
    broker = row.process.replace("-", " ")
    epoch = "" if row.epoch is None else f" at epoch {row.epoch}"
    if row.what in _TRUNCATIONS:
        begin = "" if row.before is None else f" from {row.before}"
        text = f"{broker} truncated {row.subject}{begin} to {row.after}{epoch}"
        return Told(row.at_us, 5, f"{text}: {row.why}")
    if row.what == "role-changed" and row.after == "leader":
        return Told(row.at_us, 0, f"{broker} began to lead {row.subject}{epoch}: {row.why}")
    if row.what not in _OF_INTEREST:
        return None
    begin = "" if row.before is None else f"{row.before} "
    moved = "" if row.after is None else f" ({begin}to {row.after})"
    weight = 0 if row.what == "isr-proposed" else 4
    return Told(row.at_us, weight, f"{broker}: {row.what}{moved}{epoch}: {row.why}")


def of_fault(row: Row) -> Told:
    if row.what == Kind.FAULT_ENDED:
        return Told(row.at_us, 1, f"the fault on {row.subject} ended")
    kind = row.after.get("kind", "a fault") if isinstance(row.after, dict) else "a fault"
    return Told(row.at_us, 4, f"{kind} was done to {row.subject}{f': {row.why}' * bool(row.why)}")
