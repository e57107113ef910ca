"""Which order strikes which call. The counting is pure; what strikes is carried out here too."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable
from threading import Lock

from logquake.cluster.faults.disk.patterns import path_pattern
from logquake.cluster.faults.orders import DieAtCall, DiskOrder, FailCalls, SlowCalls


class Strikes:
    """Told of every call before it is made, from the loop's thread and from workers'.

    before() raises the OSError that was ordered, waits, or does not return: ``sleep`` and ``die``
    are how.
    """

    def __init__(
        self,
        sleep: Callable[[float], None] = time.sleep,
        die: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGKILL),
    ) -> None:
        self._armed: dict[str, Armed] = {}
        self._counting = Lock()
        self._sleep = sleep
        self._die = die

    def add(self, name: str, order: DiskOrder) -> None:
        self._armed = {**self._armed, name: Armed(order)}

    def discard(self, name: str) -> None:
        self._armed = {each: one for each, one in self._armed.items() if each != name}

    def before(self, call: str, path: str, first_half: Callable[[], None] | None = None) -> None:
        """``first_half`` of the call is made where it fails or the process ends.

        Raises OSError, as ordered.
        """
        if not self._armed:
            return
        for order in self._struck(call, path):
            match order:
                case SlowCalls():
                    self._sleep(order.delay_ms / 1000)
                case FailCalls():
                    _half(first_half if order.error == "EIO" else None)
                    raise OSError(order.number, os.strerror(order.number), path)
                case DieAtCall():
                    _half(first_half)
                    self._die()

    def has_space(self, path: str) -> bool:
        """Whether nobody ordered that writes below this folder fail for want of space."""
        return not any(
            isinstance(one.order, FailCalls)
            and one.order.number == errno.ENOSPC
            and one.concerns("write", f"{path}/")
            for one in self._armed.values()
        )

    def _struck(self, call: str, path: str) -> list[DiskOrder]:
        with self._counting:
            armed = self._armed.values()
            return [one.order for one in armed if one.concerns(call, path) and one.counts()]


class Armed:
    """An order, and how many of the calls that it concerns there were."""

    def __init__(self, order: DiskOrder) -> None:
        self.order = order
        self._matches = path_pattern(order.path)
        self._calls = 0

    def concerns(self, call: str, path: str) -> bool:
        return call in self.order.calls and self._matches(path)

    def counts(self) -> bool:
        """Take notice of one more such call: whether it is struck."""
        self._calls += 1
        struck_before = self._calls - self.order.nth
        return struck_before >= 0 and (self.order.times is None or struck_before < self.order.times)


def _half(first_half: Callable[[], None] | None) -> None:
    if first_half is not None:
        first_half()
