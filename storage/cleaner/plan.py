"""What a cleaning is to do, fixed on the loop before it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logquake.storage.cleaner.policy import LogToClean
from logquake.storage.cleaner.record_filter import LastRecord
from logquake.storage.cleaner.source import SealedSegment
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.txn_index import AbortedTransaction


@dataclass(frozen=True, slots=True)
class CleanerBounds:
    """The memory of one cleaner (log.cleaner.*, each thread's share)."""

    # More keys in one pass, fewer passes over the clean part.
    dedupe_bytes: int = 134_217_728
    # How full the map may be; fuller holds more, and searches longer.
    load_factor: float = 0.9
    # What is read and handled in one slice.
    io_bytes: int = 262_144


@dataclass(frozen=True, slots=True)
class CleaningPlan:
    """segments are those up to to_clean.first_uncleanable, in order, all sealed.

    map_position is where in the first dirty one the dirty part begins, at a batch boundary at or
    before it. last_records are by producer id.
    """

    to_clean: LogToClean
    segments: Sequence[SealedSegment]
    map_position: int
    aborted: Sequence[AbortedTransaction]
    last_records: Mapping[int, LastRecord]
    config: LogConfig
    bounds: CleanerBounds
    now_ms: int
