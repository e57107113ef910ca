"""Rows to what is drawn: faults, elections, ISRs, rates and latencies over time.

Seconds count from the first row. Rows come by time; what is open at the end ends with the last.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil

from logquake.chaos.history.fault_spans import FaultSpan, FaultSpans
from logquake.chaos.history.rows import Kind, Row

MICROSECONDS = 1_000_000
CONTROLLER = "controller"  # the subject of marks that are about the office
ELECTIONS = {
    "leader-elected": "leader",
    "unclean-leader-elected": "unclean",
    "leader-not-elected": "nobody",
    "controller-elected": CONTROLLER,
    "log-truncated": "truncated",
    "committed-truncated": "truncated",
}
WRONG = "wrong"
BUCKET_S = 0.5
_MOST_BUCKETS = 240  # of a chart
_INTERNAL = "__"  # how names of topics of the brokers' own begin


@dataclass(frozen=True, slots=True)
class FaultBar:
    begins: float
    ends: float
    kind: str
    subject: str
    details: str
    refused: str | None  # why it could not be done


@dataclass(frozen=True, slots=True)
class Mark:
    """An election, or a truncation: ``kind`` is a value of ELECTIONS; or WRONG, of a verdict."""

    at: float
    kind: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Look:
    at: float
    leader: int | None
    in_sync: int | None
    replicas: int
    high_watermark: int | None


@dataclass(slots=True)
class Bucket:
    acked: int = 0
    failed: int = 0  # refused or unknown
    latencies_ms: array[float] = field(default_factory=lambda: array("f"))

    def add(self, other: Bucket) -> None:
        self.acked += other.acked
        self.failed += other.failed
        self.latencies_ms += other.latencies_ms

    def quantile_ms(self, share: float) -> float | None:
        ordered = sorted(self.latencies_ms)
        return ordered[int(share * (len(ordered) - 1))] if ordered else None


@dataclass(frozen=True, slots=True)
class Buckets:
    """Of a stretch of time, as wide as a chart can show."""

    begins_s: float
    width_s: float
    all: Sequence[Bucket]

    def __iter__(self) -> Iterator[tuple[float, Bucket]]:
        """Each with its beginning."""
        return ((self.begins_s + at * self.width_s, one) for at, one in enumerate(self.all))


@dataclass(slots=True)
class Series:
    """``marks`` leave out the brokers' own topics, whose ``elections`` are counted with the rest.
    ``buckets`` are of BUCKET_S each, from the beginning on.
    """

    duration_s: float
    began_us: int
    faults: list[FaultBar]
    marks: list[Mark]
    elections: int
    looks: dict[str, list[Look]]
    buckets: list[Bucket]

    def seconds(self, at_us: int) -> float:
        return max(0, at_us - self.began_us) / MICROSECONDS

    def within(self, begins_s: float, ends_s: float) -> Buckets:
        first, last = int(begins_s / BUCKET_S), ceil(ends_s / BUCKET_S)
        at_once = max(1, ceil((last - first) / _MOST_BUCKETS))
        merged = []
        for at in range(first, min(last, len(self.buckets)), at_once):
            bucket = Bucket()
            for one in self.buckets[at : at + at_once]:
                bucket.add(one)
            merged.append(bucket)
        return Buckets(first * BUCKET_S, at_once * BUCKET_S, merged)

    def silences(self) -> Iterator[tuple[float, float]]:
        """From when to when nothing was acked, between the first ack and the last."""
        acked = [index for index, bucket in enumerate(self.buckets) if bucket.acked]
        for one, another in pairwise(acked):
            if another > one + 1:
                yield (one + 1) * BUCKET_S, another * BUCKET_S

    def unavailable_s(self) -> float:
        """How long all of these take; the whole time if nothing was acked at all."""
        if not any(bucket.acked for bucket in self.buckets):
            return self.duration_s
        return sum(end - begin for begin, end in self.silences())


def gather(rows: Iterable[Row]) -> Series:
    """Reads the rows once."""
    gatherer = Gatherer()
    for row in rows:
        gatherer.take(row)
    return gatherer.series()


class Gatherer:
    """What is kept is some 100 bytes a send for as long as it is open, and then 4."""

    def __init__(self) -> None:
        self._began_us: int | None = None
        self._last_us = 0
        self._spans = FaultSpans()
        self._marks: list[Mark] = []
        self._elections = 0
        self._looks: dict[str, list[Look]] = defaultdict(list)
        self._asked_us: dict[int, int] = {}
        self._buckets: list[Bucket] = []

    def take(self, row: Row) -> None:
        if self._began_us is None:
            self._began_us = row.at_us
        self._last_us = max(self._last_us, row.at_us)
        match row.what:
            case Kind.SEND if row.value is not None:
                self._asked_us[row.value] = row.at_us
            case Kind.ACKED | Kind.REFUSED | Kind.UNKNOWN:
                self._answered(row)
            case Kind.FAULT_BEGUN | Kind.FAULT_ENDED:
                self._spans.take(row)
            case Kind.OBSERVED:
                self._looks[row.subject].append(self._look(row))
            case what if what in ELECTIONS:
                self._mark(row, ELECTIONS[what])

    def series(self) -> Series:
        return Series(
            max(self._seconds(self._last_us), BUCKET_S),
            self._began_us or 0,
            [self._fault(span) for span in self._spans.all(self._last_us)],
            self._marks,
            self._elections,
            dict(sorted(self._looks.items())),
            self._buckets,
        )

    def _answered(self, row: Row) -> None:
        asked_us = None if row.value is None else self._asked_us.pop(row.value, None)
        bucket = self._bucket(row.at_us)
        if row.what != Kind.ACKED:
            bucket.failed += 1
            return
        bucket.acked += 1
        if asked_us is not None:
            bucket.latencies_ms.append((row.at_us - asked_us) / 1_000)

    def _bucket(self, at_us: int) -> Bucket:
        at = int(self._seconds(at_us) / BUCKET_S)
        while at >= len(self._buckets):
            self._buckets.append(Bucket())
        return self._buckets[at]

    def _fault(self, span: FaultSpan) -> FaultBar:
        begins, ends = self._seconds(span.begun.at_us), self._seconds(span.ends_us)
        return FaultBar(begins, ends, span.kind, span.begun.subject, span.details, span.refused)

    def _look(self, row: Row) -> Look:
        seen = row.after
        in_sync = None if seen["isr"] is None else len(seen["isr"])
        at = self._seconds(row.at_us)
        return Look(at, seen["leader"], in_sync, len(seen["replicas"]), row.offset)

    def _mark(self, row: Row, kind: str) -> None:
        self._elections += kind == "leader"
        if row.subject.startswith(_INTERNAL):
            return
        text = f"{row.process}: {row.what} {row.subject} {row.why or ''}".strip()
        subject = CONTROLLER if kind == CONTROLLER else row.subject
        self._marks.append(Mark(self._seconds(row.at_us), kind, subject, text))

    def _seconds(self, at_us: int) -> float:
        return max(0, at_us - (self._began_us or 0)) / MICROSECONDS


def lanes(
    faults: Sequence[FaultBar], ends: Callable[[FaultBar], float] = lambda fault: fault.ends
) -> list[list[FaultBar]]:
    """Faults in as few lanes as they need, none over another; ``ends`` is where one is drawn to."""
    packed: list[list[FaultBar]] = []
    for fault in faults:
        lane = next((one for one in packed if ends(one[-1]) <= fault.begins), None)
        if lane is None:
            packed.append([fault])
        else:
            lane.append(fault)
    return packed
