"""Faults of the machine that a broker runs on: its disk, its clock, its share of the processor."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from logquake.chaos.faults.value import FaultValue, Target


class DiskFull(FaultValue):
    """Writes fail with ENOSPC."""

    kind: Literal["disk-full"] = "disk-full"
    target: Target


class SlowDisk(FaultValue):
    """Every call of the disk takes longer."""

    kind: Literal["slow-disk"] = "slow-disk"
    target: Target
    ms: int = Field(gt=0)


class DiskError(FaultValue):
    """EIO at the ``nth`` call of a kind; at every call if none is named."""

    kind: Literal["disk-error"] = "disk-error"
    target: Target
    call: str = "write"
    nth: int | None = Field(default=None, ge=1)
    path: str | None = None


class ReadOnlyDisk(FaultValue):
    """What would change something fails with EROFS, as after a remount for errors."""

    kind: Literal["read-only-disk"] = "read-only-disk"
    target: Target


class CrashAt(FaultValue):
    """SIGKILL at the ``nth`` call of a kind, on paths that match: a place in the code."""

    kind: Literal["crash-at"] = "crash-at"
    target: Target
    call: str
    nth: int = Field(default=1, ge=1)
    path: str = "*"


class TornWrite(FaultValue):
    """The next write ends half-way, and the broker with it."""

    kind: Literal["torn-write"] = "torn-write"
    target: Target


class FlipBit(FaultValue):
    """One bit of a replica's record is another; nothing undoes it."""

    kind: Literal["flip-bit"] = "flip-bit"
    target: Target
    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)


class LoseFiles(FaultValue):
    """Files of a broker whose paths match are gone; nothing undoes it."""

    kind: Literal["lose-files"] = "lose-files"
    target: Target
    path: str


class LoseSegment(FaultValue):
    """The segment that has this offset is gone from a replica; nothing undoes it."""

    kind: Literal["lose-segment"] = "lose-segment"
    target: Target
    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)


class CutFile(FaultValue):
    """The last file by path that matches is cut short, to half if not told; nothing undoes it."""

    kind: Literal["cut-file"] = "cut-file"
    target: Target
    path: str
    to_bytes: int | None = Field(default=None, ge=0)


class PowerLoss(FaultValue):
    """SIGKILL, and what was not synced is taken back; started again when it is healed.

    Several at once are written with commas. Some pages are left where ``unsynced`` is
    ``journaled`` or ``scattered``, as RunningCluster.power_loss has them.
    """

    kind: Literal["power-loss"] = "power-loss"
    target: Target
    unsynced: Literal["lost", "journaled", "scattered"] = "lost"


class LoseLogDir(FaultValue):
    """Every call within a log directory fails, as of a disk that was pulled out; what it holds is
    there again when it is healed, and the broker looks at it at its next start.
    """

    kind: Literal["lose-log-dir"] = "lose-log-dir"
    target: Target


class ClockSkew(FaultValue):
    """A broker's wall clock is off by so much, and by so many microseconds more every second."""

    kind: Literal["clock-skew"] = "clock-skew"
    target: Target
    ms: int = 0
    drift_ppm: float = 0


class ClockJump(FaultValue):
    """A broker's wall clock jumps by so much, and back, every so often."""

    kind: Literal["clock-jump"] = "clock-jump"
    target: Target
    ms: int
    every_ms: int = Field(default=1000, ge=1)


class Starve(FaultValue):
    """The process runs for a share of the time only."""

    kind: Literal["starve"] = "starve"
    target: Target
    share: float = Field(gt=0, lt=1)


class SlowStart(FaultValue):
    """Starts of the process take so much longer; one that runs notices nothing."""

    kind: Literal["slow-start"] = "slow-start"
    target: Target
    ms: int = Field(gt=0)


class MemoryLimit(FaultValue):
    """The process may have no more address space than this; most often it ends."""

    kind: Literal["memory-limit"] = "memory-limit"
    target: Target
    limit_bytes: int = Field(gt=0)


class FileLimit(FaultValue):
    """The process may open no descriptor of this number or above."""

    kind: Literal["file-limit"] = "file-limit"
    target: Target
    files: int = Field(gt=0)
