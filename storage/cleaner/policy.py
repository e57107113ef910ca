"""Which part of a log may be cleaned, and which log is to be cleaned first: pure decisions.

The rules of Kafka's LogCleanerManager: a log's dirty part begins where the last cleaning ended and
ends before the first segment that must not be touched: the active one, one that reaches past the
last stable offset, one with records younger than min.compaction.lag.ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from logquake.storage.log_config import LogConfig
from logquake.wire.topic_partition import TopicPartition


class SegmentFacts(Protocol):
    """What the policy needs of a segment; times in ms, NO_TIMESTAMP for none."""

    @property
    def base_offset(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def first_timestamp(self) -> int: ...

    def largest_timestamp(self) -> int: ...


class Placed(Protocol):
    @property
    def base_offset(self) -> int: ...


S = TypeVar("S", bound=Placed)


@dataclass(frozen=True, slots=True)
class LogFacts:
    """A log at one moment. segments are all of them, the active one last."""

    start_offset: int
    end_offset: int
    last_stable_offset: int
    segments: Sequence[SegmentFacts]
    config: LogConfig


@dataclass(frozen=True, slots=True)
class DirtyRange:
    """Offsets [first_dirty, first_uncleanable); reset_why tells what was wrong with the checkpoint.

    After a reset the checkpoint must be written: it would be found wrong again and again.
    """

    first_dirty: int
    first_uncleanable: int
    reset_why: str | None = None


@dataclass(frozen=True, slots=True)
class LogToClean:
    """A compacted log, and how dirty it is. first_uncleanable begins a segment."""

    first_dirty: int
    first_uncleanable: int
    clean_bytes: int
    cleanable_bytes: int
    overdue_ms: int  # how long the oldest dirty record is past max.compaction.lag.ms
    min_ratio: float  # min.cleanable.dirty.ratio
    reset_why: str | None = None

    @property
    def ratio(self) -> float:
        """The dirty part of what is before first_uncleanable."""
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0

    @property
    def is_due(self) -> bool:
        """Dirty enough, or waiting for too long."""
        is_overdue = self.overdue_ms > 0 and self.cleanable_bytes > 0
        return is_overdue or self.ratio > self.min_ratio

    @property
    def why(self) -> str:
        """Why it is cleaned, for people."""
        dirty = f"{self.cleanable_bytes} of {self.clean_bytes + self.cleanable_bytes} bytes"
        if self.ratio > self.min_ratio:
            return f"{dirty} are dirty, more than min.cleanable.dirty.ratio={self.min_ratio}"
        return f"{dirty} are dirty, {self.overdue_ms} ms past max.compaction.lag.ms"


def assess(log: LogFacts, checkpoint: int | None, now_ms: int) -> LogToClean:
    """How much of a log there is to clean; checkpoint is where its last cleaning ended."""
    dirty = dirty_range(log, checkpoint, now_ms)
    untouchable = _sealed_from(log.segments, dirty.first_uncleanable)
    first_uncleanable = (untouchable or log.segments[-1:])[0].base_offset
    return LogToClean(
        dirty.first_dirty,
        first_uncleanable,
        # Whole segments: the one in which the dirty part begins counts twice, as in Kafka.
        clean_bytes=sum(s.size for s in log.segments if s.base_offset < dirty.first_dirty),
        cleanable_bytes=sum(
            s.size for s in segments_between(log.segments, dirty.first_dirty, first_uncleanable)
        ),
        overdue_ms=_overdue_ms(log, dirty.first_dirty, now_ms),
        min_ratio=log.config.min_cleanable_dirty_ratio,
        reset_why=dirty.reset_why,
    )


def dirty_range(log: LogFacts, checkpoint: int | None, now_ms: int) -> DirtyRange:
    """LogCleanerManager.cleanableOffsets."""
    first_dirty, reset_why = _first_dirty(log, checkpoint)
    bounds = [log.last_stable_offset, log.segments[-1].base_offset]
    min_lag_ms = log.config.min_compaction_lag_ms
    if min_lag_ms > 0:
        sealed = _sealed_from(log.segments, first_dirty)
        young = (s.base_offset for s in sealed if s.largest_timestamp() > now_ms - min_lag_ms)
        bounds += list(young)[:1]
    return DirtyRange(first_dirty, max(first_dirty, min(bounds)), reset_why)


def dirtiest(logs: Iterable[tuple[TopicPartition, LogToClean]]) -> TopicPartition | None:
    """The log to be cleaned next; None when none is dirty enough. Of equals the first by name."""
    due = sorted((key, log) for key, log in logs if log.is_due)
    best = max(due, key=lambda found: found[1].ratio, default=None)
    return best[0] if best else None


def _first_dirty(log: LogFacts, checkpoint: int | None) -> tuple[int, str | None]:
    if checkpoint is None:
        return log.start_offset, None
    if checkpoint < log.start_offset:
        return log.start_offset, f"offset {checkpoint} is before the log's start"
    if checkpoint > log.end_offset:
        # The end was lost: what came after it may be anything.
        return log.start_offset, f"offset {checkpoint} is past the log's end {log.end_offset}"
    return checkpoint, None


def _overdue_ms(log: LogFacts, first_dirty: int, now_ms: int) -> int:
    clean_until_ms = now_ms - log.config.max_compaction_lag_ms
    if clean_until_ms <= 0:
        return 0  # also spares reading the first timestamps where the lag has no bound
    stamps = [s.first_timestamp for s in _sealed_from(log.segments, first_dirty)]
    earliest = min((stamp for stamp in stamps if stamp > 0), default=clean_until_ms)
    return max(0, clean_until_ms - earliest)


def _sealed_from(segments: Sequence[SegmentFacts], offset: int) -> Sequence[SegmentFacts]:
    """The segment that holds offset and those after it, without the active one."""
    return segments_between(segments[:-1], offset, segments[-1].base_offset)


def segments_between(segments: Sequence[S], first: int, end: int) -> Sequence[S]:
    """Segments with offsets in [first, end), the one that first lies in among them."""
    floor = max((s.base_offset for s in segments if s.base_offset <= first), default=first)
    return [s for s in segments if floor <= s.base_offset < end] if first < end else []
