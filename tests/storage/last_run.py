"""How a log was left, as tests say it."""

from __future__ import annotations

from logquake.storage.log.last_run import CleanStop, LastRun, UncleanStop


def last_run(
    *,
    clean: bool,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    cleaned_to: int | None = None,
) -> LastRun:
    """After a clean stop there is no recovery point to speak of."""
    stop = CleanStop() if clean else UncleanStop(recovery_point)
    return LastRun(stop, log_start_offset, cleaned_to)
