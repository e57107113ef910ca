"""What was read, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field

from logquake.storage.verify.expectations import DirState
from logquake.storage.verify.findings import Finding


@dataclass(slots=True)
class PartitionReport:
    """What was read of a partition; offsets are those of its log."""

    topic: str
    partition: int
    path: str
    start_offset: int = 0
    end_offset: int = 0
    segments: int = 0
    batches: int = 0
    records: int = 0
    bytes: int = 0


@dataclass(slots=True)
class DirReport:
    path: str
    state: DirState
    partitions: list[PartitionReport] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """Of all directories that were asked for. damages and notes count all, findings the kept."""

    directories: list[DirReport]
    findings: list[Finding]
    damages: int
    notes: int

    @property
    def is_sound(self) -> bool:
        return self.damages == 0
