"""The outcome of a part of a call, set once (KafkaFuture). Without I/O: nobody waits here.

`logquake.client.sync` and `logquake.client.aio` have futures over it, for callers that wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, cast

from logquake.client.errors import ClientError
from logquake.client.telling import Telling

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Pending(Protocol[T_co]):
    @property
    def is_done(self) -> bool: ...

    @property
    def outcome(self) -> T_co | ClientError | None:
        """Of one that is done. An error is told as a value: who waits for it raises it."""

    def when_done(self, function: Callable[[], object]) -> None:
        """Call it then; of one that is not done."""


class Promise(Generic[T]):
    """Satisfies `Pending`; whoever knows how it ends settles it, once."""

    def __init__(self, telling: Telling) -> None:
        self.is_done = False
        self._telling = telling
        self._outcome: T | ClientError | None = None
        self._to_tell: list[Callable[[], object]] = []

    @property
    def outcome(self) -> T | ClientError:
        if not self.is_done:
            raise RuntimeError("nobody knows yet what it comes to")
        return cast("T | ClientError", self._outcome)  # None may be what it comes to

    def when_done(self, function: Callable[[], object]) -> None:
        self._to_tell.append(function)

    def settle(self, outcome: T | ClientError) -> None:
        """What comes after the first is of no interest."""
        if self.is_done:
            return
        self._outcome = outcome
        self.is_done = True
        for function in self._to_tell:
            self._telling.add(function)
        self._to_tell.clear()
