"""A run in lines for people: faults one by one, and brokers' decisions of one sort as one.

A single kill changes a hundred partitions of the brokers' own topics and a few of the user's: these
are named, those are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.runs.status import Status

# What a person wants to see go by, of what journals say of partitions, and how many of it are
# called. All of it is in the files.
OF_PARTITIONS: Mapping[str, str] = {
    "leader-elected": "leaders elected",
    "unclean-leader-elected": "leaders elected unclean",
    "leader-not-elected": "partitions left without a leader",
    "leader-lost": "leaders lost",
    "isr-shrunk": "ISRs shrunk",
    "isr-change-refused": "changes of ISRs refused",
    "log-truncated": "logs cut off",
    "committed-truncated": "logs cut off below the high watermark",
}
OTHERS = frozenset(
    {"controller-elected", "broker-down", "records-damaged", "log-dir-failed"}
    | {"zookeeper-session-expired"}
)
_MOST_NAMES = 6
_ENDS = frozenset({"kind", "source", "target", "groups", "client"})
_INTERNAL = "__"  # how names of topics of the brokers' own begin


class Told(NamedTuple):
    what: str  # of the rows that the line is about
    line: str


class Teller:
    """Remembers which faults stand, so that their ends can be told."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, int], Row] = {}

    def tell(self, rows: Iterable[Row]) -> Iterator[Told]:
        """Of the rows of one look, by time; what one broker decided alike, where it began to."""
        found: dict[object, list[Row]] = {}
        for row in rows:
            key = (row.process, row.what) if row.what in OF_PARTITIONS else len(found)
            found.setdefault(key, []).append(row)
        for alike in found.values():
            line = self._line(alike)
            if line is not None:
                yield Told(alike[0].what, f"{clock(alike[0].at_us)}  {line}")

    def _line(self, alike: Sequence[Row]) -> str | None:
        row = alike[0]
        if row.what == Kind.FAULT_BEGUN:
            self._begun[row.process, row.sequence] = row
            return _begun(row)
        if row.what == Kind.FAULT_ENDED:
            return self._ended(row)
        if len(alike) > 1:
            return _together(alike)
        if row.what in OTHERS or row.what in OF_PARTITIONS:
            return f"{row.process}: {row.what} {row.subject}{_because(row)}"
        return None

    def _ended(self, row: Row) -> str:
        begun = self._begun.pop((row.process, row.caused_by or 0), None)
        if row.why is not None:
            return f"- {row.subject}: {row.why}"
        if begun is None:
            return f"✓ healed {row.subject}"
        seconds = (row.at_us - begun.at_us) / 1_000_000
        return f"✓ healed {begun.after['kind']} {row.subject} after {seconds:.1f} s"


def _begun(row: Row) -> str:
    said = (f"{name}={value}" for name, value in row.after.items() if name not in _ENDS)
    return " ".join(("✗", row.after["kind"], row.subject, *said))


def _together(alike: Sequence[Row]) -> str:
    """The user's topics by name; one of them stands for why."""
    named = [row for row in alike if not row.subject.startswith(_INTERNAL)]
    names = [row.subject for row in named]
    if len(names) > _MOST_NAMES:
        names[_MOST_NAMES - 1 :] = [f"{len(names) - _MOST_NAMES + 1} more"]
    if len(named) < len(alike):
        names.append(f"{len(alike) - len(named)} of internal topics")
    example = (named or alike)[0]
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return (
        f"{example.process}: {len(alike)} {OF_PARTITIONS[example.what]}: {listed}; "
        f"{example.subject}{_because(example)}"
    )


def _because(row: Row) -> str:
    return f": {row.why}" if row.why else ""


def in_short(status: Status, acks_per_s: float) -> str:
    """One look as a line: throughput, outcomes, faults, and where replicas are missing."""
    counts = status.counts
    return (
        f"{status.phase}, {status.elapsed_s:.0f} s: {acks_per_s:,.0f} acks/s, {outcomes(counts)}; "
        f"{_counted(len(status.standing))}; {_wholeness(status.partitions.values())}"
    )


def _counted(faults: int) -> str:
    return "nothing is broken" if not faults else "1 fault" if faults == 1 else f"{faults} faults"


def outcomes(counts: Mapping[str, int]) -> str:
    return (
        f"{counts.get(Kind.ACKED, 0):,} acked, {counts.get(Kind.REFUSED, 0):,} refused, "
        f"{counts.get(Kind.UNKNOWN, 0):,} unknown"
    )


def _wholeness(partitions: Iterable[Row]) -> str:
    looks = sorted(partitions, key=lambda row: row.subject)
    leaderless = [row.subject for row in looks if row.after["leader"] is None]
    short = [
        f"{row.subject} {row.after['isr']}"
        for row in looks
        if row.after["isr"] is not None and len(row.after["isr"]) < len(row.after["replicas"])
    ]
    if not looks:
        return "no partition was looked at yet"
    if not short and not leaderless:
        return f"{len(looks)} partitions, all in sync"
    parts = (("in sync are only ", short), ("nobody leads ", leaderless))
    return "; ".join(f"{said}{_some(names)}" for said, names in parts if names)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def clock(at_us: int) -> str:
    """The local time of day, in milliseconds."""
    return f"{datetime.fromtimestamp(at_us / 1_000_000).astimezone():%H:%M:%S.%f}"[:-3]
