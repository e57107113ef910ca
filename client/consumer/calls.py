"""What all calls of the program share: one runs at a time, and some events interrupt it."""

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
        """A listener may make further calls. Raises ConcurrentUseError."""
        return self._callers.one_at_a_time()

    def wakeup(self) -> None:
        """From any thread: make the waiting call, or the next one to wait, raise WakeupError."""
        self._is_woken = not self._is_ending

    def end(self) -> None:
        """Begin the last call: a listener may still commit in it, and wakeups are ignored."""
        self._is_ending = True
        self._is_woken = False

    @property
    def is_disturbed(self) -> bool:
        """Whether `heed` would raise something."""
        return self._is_woken or self._failures.any

    def heed(self) -> None:
        """Raises WakeupError, or an error noted since the last call."""
        self.heed_wakeup()
        self.raise_noted()

    def heed_wakeup(self) -> None:
        """Raises WakeupError."""
        if self._is_woken:
            self._is_woken = False
            raise WakeupError("wakeup() was called")

    def raise_noted(self) -> None:
        """Raises the ClientError noted since the last call, once."""
        self._failures.raise_noted()

    def wakeable(self, steps: Steps[T]) -> Steps[T]:
        """The same steps, but `wakeup` interrupts them while they wait."""
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
        """Whether the condition came true in time. Raises what `heed` does."""
        self.heed()
        yield Wait(lambda: is_done() or self.is_disturbed, deadline_ms)
        if not is_done():
            self.heed()
        return is_done()
