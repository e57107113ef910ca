"""A future for callers that await, with asyncio.Future's methods, over a `Pending`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Generic, TypeVar, cast

from logquake.client.driving.aio import AioDriver
from logquake.client.errors import ClientError
from logquake.client.pending import Pending

T = TypeVar("T")


class Future(Generic[T]):
    """May be awaited repeatedly. Cheap until awaited, since there may be one for each record."""

    __slots__ = ("_driver", "_pending")

    def __init__(self, pending: Pending[T], driver: AioDriver) -> None:
        self._pending = pending
        self._driver = driver

    def __await__(self) -> Generator[Any, None, T]:
        """Raises its ClientError if it failed, and ClosedError if the client itself failed."""
        if not self._pending.is_done:
            promised = self._driver.promise()
            self._pending.when_done(partial(_fulfil, promised))
            yield from promised
        return self.result()

    def done(self) -> bool:
        return self._pending.is_done

    def result(self) -> T:
        """The result, if it is done. Raises asyncio.InvalidStateError otherwise."""
        outcome = self._outcome()
        if isinstance(outcome, ClientError):
            raise outcome
        return outcome

    def exception(self) -> ClientError | None:
        """The error, if it is done; None if it succeeded."""
        outcome = self._outcome()
        return outcome if isinstance(outcome, ClientError) else None

    def add_done_callback(self, function: Callable[[Future[T]], object]) -> None:
        """Call it with this future, on the loop, or at once if already done."""
        if self._pending.is_done:
            function(self)
        else:
            self._pending.when_done(lambda: function(self))

    def _outcome(self) -> T | ClientError:
        if not self._pending.is_done:
            raise asyncio.InvalidStateError("it is not done yet")
        return cast("T | ClientError", self._pending.outcome)


def _fulfil(promised: asyncio.Future[None]) -> None:
    """Unless the waiter has been cancelled."""
    if not promised.done():
        promised.set_result(None)
