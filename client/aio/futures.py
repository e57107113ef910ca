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
    """Awaitable, as often as one likes. Cheap until it is: there may be one for each record."""

    __slots__ = ("_driver", "_pending")

    def __init__(self, pending: Pending[T], driver: AioDriver) -> None:
        self._pending = pending
        self._driver = driver

    def __await__(self) -> Generator[Any, None, T]:
        """Raises the ClientError that it came to, ClosedError if the client has failed."""
        if not self._pending.is_done:
            promised = self._driver.promise()
            self._pending.when_done(partial(_fulfil, promised))
            yield from promised
        return self.result()

    def done(self) -> bool:
        return self._pending.is_done

    def result(self) -> T:
        """Of one that is done, else it raises asyncio.InvalidStateError."""
        outcome = self._outcome()
        if isinstance(outcome, ClientError):
            raise outcome
        return outcome

    def exception(self) -> ClientError | None:
        """Of one that is done, None where it went well."""
        outcome = self._outcome()
        return outcome if isinstance(outcome, ClientError) else None

    def add_done_callback(self, function: Callable[[Future[T]], object]) -> None:
        """It is called on the loop, with the future; at once if that is done."""
        if self._pending.is_done:
            function(self)
        else:
            self._pending.when_done(lambda: function(self))

    def _outcome(self) -> T | ClientError:
        if not self._pending.is_done:
            raise asyncio.InvalidStateError("it is not done yet")
        return cast("T | ClientError", self._pending.outcome)


def _fulfil(promised: asyncio.Future[None]) -> None:
    """Whoever awaited it may have given up."""
    if not promised.done():
        promised.set_result(None)
