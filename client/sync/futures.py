"""A future for callers that block, with concurrent.futures.Future's methods, over a `Pending`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from logquake.client.arguments import check_time_or_none
from logquake.client.driving.thread import ThreadDriver
from logquake.client.errors import ClientError
from logquake.client.pending import Pending

T = TypeVar("T")


class Future(Generic[T]):
    """Cheap, since there may be one for each record: it has no lock of its own."""

    __slots__ = ("_driver", "_pending")

    def __init__(self, pending: Pending[T], driver: ThreadDriver) -> None:
        self._pending = pending
        self._driver = driver

    def done(self) -> bool:
        return self._pending.is_done

    def result(self, timeout_s: float | None = None) -> T:
        """Wait for the result. Raises its ClientError, TimeoutError if it takes too long, and
        ClosedError if the client itself has failed.
        """
        outcome = self._await_outcome(timeout_s)
        if isinstance(outcome, ClientError):
            raise outcome
        return outcome

    def exception(self, timeout_s: float | None = None) -> ClientError | None:
        """Wait for the outcome; None if it succeeded. Raises TimeoutError and ClosedError."""
        outcome = self._await_outcome(timeout_s)
        return outcome if isinstance(outcome, ClientError) else None

    def add_done_callback(self, function: Callable[[Future[T]], object]) -> None:
        """Call it with this future, on the client's thread, or at once if already done."""
        with self._driver.lock:
            if not self._pending.is_done:
                self._pending.when_done(lambda: function(self))
                return
        function(self)

    def _await_outcome(self, timeout_s: float | None) -> T | ClientError:
        if not (self._pending.is_done or self._waited(timeout_s)):
            raise TimeoutError(f"not done after {timeout_s} s")
        return cast("T | ClientError", self._pending.outcome)

    def _waited(self, timeout_s: float | None) -> bool:
        check_time_or_none(timeout_s, "timeout_s")
        return self._driver.wait_so_long(lambda: self._pending.is_done, timeout_s)
