"""The results of a call, item by item: each is promised when the call begins, and settled once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from logquake.client.errors import ClientError, MalformedResponseError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Outcome(Protocol):
    """What a promise is to those who keep it: told once, later words are of no interest."""

    @property
    def is_done(self) -> bool: ...

    def settle(self, outcome: Any) -> None:
        """With a value, or a ClientError."""


class Results(Generic[K, V]):
    """Brokers may tell of what nobody asked about, or twice: that is passed over."""

    def __init__(self, outcomes: Mapping[K, Outcome]) -> None:
        self._outcomes = outcomes

    def rest(self) -> list[K]:
        """Those of which nothing was told yet."""
        return [key for key, outcome in self._outcomes.items() if not outcome.is_done]

    def of(self, keys: Iterable[K]) -> Results[K, V]:
        """These alone."""
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
        """Nothing more comes."""
        for key in self.rest():
            self.settle(key, MalformedResponseError(f"the broker's answer says nothing of {key}"))


class Spread(Generic[K]):
    """Satisfies `Outcome`: what a whole comes to, told to each of its parts.

    It comes to what each part did, or to an error, which is then that of all.
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
