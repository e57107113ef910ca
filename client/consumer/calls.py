"""What all calls of the program have in common: one at a time, and what interrupts them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from logquake.client.clock import Clock
from logquake.client.consumer.callers import Callers
from logquake.client.consumer.failures import Failures
from logquake.client.driving.steps import Call, Steps, Wait, with_each
from logquake.client.errors import WakeupError

T = TypeVar("T")


class Calls:
    def __init__(self, clock: Clock, failures: Failures, callers: Callers) -> None:
        self._clock = clock
        self._failures = failures
        self._callers = callers
        self._is_woken = False
        self._is_ending = False

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def one_at_a_time(self) -> AbstractContextManager[None]:
        """A listener may call again. Raises ConcurrentUseError."""
        return self._callers.one_at_a_time()

    def wakeup(self) -> None:
        """From any thread: the call that waits, or will, ends with WakeupError."""
        self._is_woken = not self._is_ending

    def end(self) -> None:
        """The last call is under way: a listener may commit in it, and nothing wakes it."""
        self._is_ending = True
        self._is_woken = False

    @property
    def is_disturbed(self) -> bool:
        """`heed` has something to raise."""
        return self._is_woken or self._failures.any

    def heed(self) -> None:
        """Raises WakeupError, and what has failed meanwhile."""
        self.heed_wakeup()
        self.raise_noted()

    def heed_wakeup(self) -> None:
        """Raises WakeupError."""
        if self._is_woken:
            self._is_woken = False
            raise WakeupError("wakeup() was called")

    def raise_noted(self) -> None:
        """Raises ClientError: what has failed meanwhile, once."""
        self._failures.raise_noted()

    def wakeable(self, steps: Steps[T]) -> Steps[T]:
        """The same, and `wakeup` ends it while it waits."""
        return with_each(steps, self._heeding_wakeup)

    def _heeding_wakeup(self, step: Wait | Call) -> Steps[object]:
        sent: object = yield self._waking(step)
        self._heed_wakeup(step)
        return sent

    def _waking(self, step: Wait | Call) -> Wait | Call:
        if isinstance(step, Call):
            return step
        return step._replace(is_done=lambda: step.is_done() or self._is_woken)

    def _heed_wakeup(self, step: Wait | Call) -> None:
        if isinstance(step, Wait) and self._is_woken and not step.is_done():
            self._is_woken = False
            raise WakeupError("wakeup() was called")

    def wait(self, is_done: Callable[[], bool], deadline_ms: int) -> Steps[bool]:
        """Whether it is done in time. Raises what `heed` does."""
        self.heed()
        yield Wait(lambda: is_done() or self.is_disturbed, deadline_ms)
        if not is_done():
            self.heed()
        return is_done()
