"""Rows to what is drawn: faults, elections, ISRs, rates and latencies over time.

Seconds count from the first row. Rows come by time; what is open at the end ends with the last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from logquake.chaos.history.fault_spans import FaultSpan, FaultSpans
from logquake.chaos.history.rows import Kind, Row

MICROSECONDS = 1_000_000
ELECTIONS = {
    "leader-elected": "leader",
    "unclean-leader-elected": "unclean",
    "leader-not-elected": "nobody",
    "controller-elected": "controller",
    "log-truncated": "truncated",
    "committed-truncated": "truncated",
}
_BUCKETS = 240
_SHORTEST_BUCKET_S = 0.5


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
    """An election, or a truncation: ``kind`` is a value of ELECTIONS."""

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
    latencies_ms: list[float] = field(default_factory=list)

    def quantile_ms(self, share: float) -> float | None:
        ordered = sorted(self.latencies_ms)
        return ordered[int(share * (len(ordered) - 1))] if ordered else None


@dataclass(slots=True)
class Series:
    duration_s: float
    bucket_s: float
    began_us: int
    faults: list[FaultBar]
    marks: list[Mark]
    looks: dict[str, list[Look]]
    buckets: list[Bucket]

    def silences(self) -> Iterator[tuple[float, float]]:
        """From when to when nothing was acked, between the first ack and the last."""
        acked = [index for index, bucket in enumerate(self.buckets) if bucket.acked]
        for one, another in pairwise(acked):
            if another > one + 1:
                yield (one + 1) * self.bucket_s, another * self.bucket_s

    def unavailable_s(self) -> float:
        """How long all of these take; the whole time if nothing was acked at all."""
        if not any(bucket.acked for bucket in self.buckets):
            return self.duration_s
        return sum(end - begin for begin, end in self.silences())


def gather(rows: Iterable[Row]) -> Series:
    """Reads the rows once; what is kept is some 100 bytes a send, for as long as it is open."""
    gatherer = _Gatherer()
    for row in rows:
        gatherer.take(row)
    return gatherer.series()


class _Gatherer:
    def __init__(self) -> None:
        self._began_us: int | None = None
        self._last_us = 0
        self._spans = FaultSpans()
        self._marks: list[Mark] = []
        self._looks: dict[str, list[Look]] = defaultdict(list)
        self._asked_us: dict[int, int] = {}
        self._outcomes: list[tuple[float, bool, float | None]] = []

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
        duration_s = max(self._seconds(self._last_us), _SHORTEST_BUCKET_S)
        bucket_s = max(_SHORTEST_BUCKET_S, duration_s / _BUCKETS)
        buckets = [Bucket() for _ in range(int(duration_s / bucket_s) + 1)]
        for at, is_acked, latency_ms in self._outcomes:
            bucket = buckets[int(at / bucket_s)]
            if is_acked:
                bucket.acked += 1
            else:
                bucket.failed += 1
            if latency_ms is not None:
                bucket.latencies_ms.append(latency_ms)
        return Series(
            duration_s,
            bucket_s,
            self._began_us or 0,
            [self._fault(span) for span in self._spans.all(self._last_us)],
            self._marks,
            dict(sorted(self._looks.items())),
            buckets,
        )

    def _answered(self, row: Row) -> None:
        asked_us = None if row.value is None else self._asked_us.pop(row.value, None)
        is_acked = row.what == Kind.ACKED
        latency_ms = (row.at_us - asked_us) / 1_000 if is_acked and asked_us is not None else None
        self._outcomes.append((self._seconds(row.at_us), is_acked, latency_ms))

    def _fault(self, span: FaultSpan) -> FaultBar:
        begins, ends = self._seconds(span.begun.at_us), self._seconds(span.ends_us)
        return FaultBar(begins, ends, span.kind, span.begun.subject, span.details, span.refused)

    def _look(self, row: Row) -> Look:
        seen = row.after
        in_sync = None if seen["isr"] is None else len(seen["isr"])
        at = self._seconds(row.at_us)
        return Look(at, seen["leader"], in_sync, len(seen["replicas"]), row.offset)

    def _mark(self, row: Row, kind: str) -> None:
        text = f"{row.process}: {row.what} {row.subject} {row.why or ''}".strip()
        self._marks.append(Mark(self._seconds(row.at_us), kind, row.subject, text))

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
