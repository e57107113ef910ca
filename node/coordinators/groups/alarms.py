"""When groups have to do something without being asked.

A group that has its members' heartbeats is looked at once in a session time-out and not at each of
them: its deadlines only move away, and a timer that finds nothing due is set for the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.seams.scheduler import Scheduler, Timer


@dataclass(frozen=True, slots=True)
class _Alarm:
    at_ms: int
    timer: Timer


class Alarms:
    """One timer a group, that has a deadline."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._alarms: dict[ClassicGroup, _Alarm] = {}

    def set(self, group: ClassicGroup, due: Callable[[], None]) -> None:
        """Call due when the group is to be woken, unless that is seen to already."""
        wake_ms = group.wake_ms
        alarm = self._alarms.get(group)
        if wake_ms is None or (alarm is not None and alarm.at_ms <= wake_ms):
            return
        self.cancel(group)

        def wake() -> None:
            del self._alarms[group]
            due()

        delay_ms = max(0, wake_ms - self._scheduler.now_ms())
        self._alarms[group] = _Alarm(wake_ms, self._scheduler.call_later(delay_ms, wake))

    def cancel(self, group: ClassicGroup) -> None:
        alarm = self._alarms.pop(group, None)
        if alarm is not None:
            alarm.timer.cancel()

    def close(self) -> None:
        for group in list(self._alarms):
            self.cancel(group)
