"""What is known of a log before its files are: how its last run ended, and what checkpoints say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CleanStop:
    """The run ended in order: everything is synced, and the files are as they were left."""


@dataclass(frozen=True, slots=True)
class UncleanStop:
    """The run was cut off: what lies from the recovery point on may be torn, or not be there."""

    recovery_point: int = 0


@dataclass(frozen=True, slots=True)
class LastRun:
    """Of a log that is new, too: it has nothing to be repaired.

    ``start_offset`` is as checkpointed, 0 where the segments' names tell it. ``cleaned_to`` is
    where the last compaction ended, None for a log that never had one.
    """

    stop: CleanStop | UncleanStop = CleanStop()
    start_offset: int = 0
    cleaned_to: int | None = None


NOTHING_TO_REPAIR = LastRun()
