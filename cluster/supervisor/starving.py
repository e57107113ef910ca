"""A member that has a processor for a share of the time only: stopped and continued in slices."""

from __future__ import annotations

from collections.abc import Callable

from logquake.cluster.faults.duty_cycle import slices
from logquake.cluster.faults.orders import Starve
from logquake.cluster.supervisor.member import Member
from logquake.node.net.loop import EventLoop


class Starving:
    """From now until end(), through all ends and starts of the process meanwhile."""

    def __init__(self, member: Member, order: Starve, loop: EventLoop) -> None:
        self._member = member
        self._slices = slices(order.seed, order.share, order.shortest_ms, order.longest_ms)
        self._loop = loop
        self._run()

    def end(self, done: Callable[[], None]) -> None:
        self._timer.cancel()
        self._member.let_run()
        done()

    def _run(self) -> None:
        self._member.let_run()
        run_ms, self._stop_ms = next(self._slices)
        self._timer = self._loop.call_later(run_ms, self._stop)

    def _stop(self) -> None:
        self._member.hold()
        self._timer = self._loop.call_later(self._stop_ms, self._run)
