"""Calls an assignor of the program while nobody holds the core.

It may take long, or call the consumer. Kafka calls assignors with the coordinator locked, so that
heartbeats wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from logquake.client.callbacks import fails_alone

T = TypeVar("T")

Beside: TypeAlias = Callable[[Callable[[], object]], object]
"""Has a function called soon, without holding the core: `Telling.add`, for example."""


class Errand(Generic[T]):
    """A call whose outcome a later poll of the core picks up."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._outcome: list[T] = []
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._outcome.append(self._function())
        except BaseException as error:
            if not fails_alone(error):
                raise
            self._error = error if isinstance(error, Exception) else RuntimeError(repr(error))

    @property
    def is_done(self) -> bool:
        return bool(self._outcome) or self._error is not None

    def outcome(self) -> T:
        """The result, if it is done. Raises what the call raised."""
        if self._error is not None:
            raise self._error
        return self._outcome[0]


def begin(function: Callable[[], T], beside: Beside) -> Errand[T]:
    errand = Errand(function)
    beside(errand.run)
    return errand
