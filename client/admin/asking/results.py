"""The results of a call, item by item: each is promised when the call begins, and settled once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from logquake.client.errors import ClientError, MalformedResponseError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Outcome(Protocol):
    """A promise as seen by the code that fulfils it: settled once, later calls are ignored."""

    @property
    def is_done(self) -> bool: ...

    def settle(self, outcome: Any) -> None:
        """With a value, or a ClientError."""


class Results(Generic[K, V]):
    """Results for items that were not requested, or that come twice, are ignored."""

    def __init__(self, outcomes: Mapping[K, Outcome]) -> None:
        self._outcomes = outcomes

    def rest(self) -> list[K]:
        """The keys without an outcome so far."""
        return [key for key, outcome in self._outcomes.items() if not outcome.is_done]

    def of(self, keys: Iterable[K]) -> Results[K, V]:
        """The results of these keys only."""
        return Results({key: self._outcomes[key] for key in keys})

    def settle(self, key: K, told: V | ClientError) -> None:
        outcome = self._outcomes.get(key)
        if outcome is not None:
            outcome.settle(told)

    def settle_each(self, told: Iterable[tuple[K, V | ClientError]]) -> None:
        for key, outcome in told:
            self.settle(key, outcome)

    def fail_rest(self, error: ClientError) -> None:
        for key in self.rest():
            self.settle(key, error)

    def end(self) -> None:
        """No more results will come: fail the rest."""
        for key in self.rest():
            self.settle(key, MalformedResponseError(f"the broker's answer says nothing of {key}"))


class Spread(Generic[K]):
    """Satisfies `Outcome`: distributes the outcome of a whole to its parts.

    It is either an outcome for each part, or one error, which is then that of all.
    """

    def __init__(self, parts: Results[K, None]) -> None:
        self._parts = parts

    @property
    def is_done(self) -> bool:
        return not self._parts.rest()

    def settle(self, outcome: Mapping[K, ClientError | None] | ClientError) -> None:
        if isinstance(outcome, ClientError):
            self._parts.fail_rest(outcome)
        else:
            self._parts.settle_each(outcome.items())
            self._parts.end()
