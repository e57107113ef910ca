"""A Scheduler whose wall clock is wrong, and whose monotonic one is right, as on a real machine."""

from __future__ import annotations

from collections.abc import Callable

from logquake.cluster.faults.orders import ClockOrder
from logquake.seams.scheduler import Scheduler, Timer


class SkewedClock:
    """The offsets of all orders that stand are added up. The journal does not ask it: events of
    all brokers bear the machine's time, so that they can be laid side by side.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._orders: dict[str, tuple[ClockOrder, int]] = {}  # with when each was given

    def add(self, name: str, order: ClockOrder) -> None:
        self._orders[name] = order, self._scheduler.now_ms()

    def discard(self, name: str) -> None:
        self._orders.pop(name, None)

    def now_ms(self) -> int:
        return self._scheduler.now_ms()

    def wall_ms(self) -> int:
        now_ms = self._scheduler.now_ms()
        offsets = (one.offset_ms(now_ms - since) for one, since in self._orders.copy().values())
        return self._scheduler.wall_ms() + int(sum(offsets))

    def call_later(self, delay_ms: float, action: Callable[[], None]) -> Timer:
        return self._scheduler.call_later(delay_ms, action)
