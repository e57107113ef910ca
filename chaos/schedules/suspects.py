"""Which faults of a run that failed to try first, and how to try fewer in less time."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from logquake.chaos.history.fault_spans import FaultSpan
from logquake.chaos.schedules.schedule import Planned, Schedule

# What goes wrong is told by the moment at which it was promised: what broke the promise came then,
# a little later, or had only just ended.
BEFORE_US = 10_000_000
AFTER_US = 20_000_000
MOST_IDLE_S = 2.0


def about(schedule: Schedule, spans: Iterable[FaultSpan], moments_us: Collection[int]) -> Schedule:
    """The faults that stood about one of the moments. ``spans`` tell when they did: each row of a
    beginning says why, by the words of what was planned.
    """
    near = {
        span.begun.why
        for span in spans
        for moment_us in moments_us
        if span.begun.at_us - AFTER_US <= moment_us <= span.ends_us + BEFORE_US
    }
    return tuple(planned for planned in schedule if str(planned) in near)


def closed_up(schedule: Schedule, most_idle_s: float = MOST_IDLE_S) -> Schedule:
    """The same by their beginnings, with no longer rests before and between them than that: where
    faults were left out, no time is spent.
    """
    closed: list[Planned] = []
    saved_s = ends_s = 0.0
    for planned in sorted(schedule, key=lambda one: one.at):
        idle_s = planned.at - ends_s
        saved_s += max(0.0, idle_s - most_idle_s)
        ends_s = max(ends_s, planned.ends)
        closed.append(planned.model_copy(update={"at": round(planned.at - saved_s, 3)}))
    return tuple(closed)
