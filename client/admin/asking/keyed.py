"""Calls with keys that each belong to some broker: partitions, groups, transactional ids.

First that broker is looked up; then each broker gets one request for all of its keys. Keys that
have moved are looked up again, and keys that are not ready are requested again (AdminApiDriver).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from logquake.client.admin.asking.asks import Also, Ask, Asks, Loss
from logquake.client.admin.asking.results import Results
from logquake.client.errors import (
    ClientError,
    ConnectionLostError,
    RequestTimedOutError,
    TimedOutError,
    UnsupportedVersionError,
)
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.network.effects import Node
from logquake.wire.schema import Message

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T")
A = TypeVar("A", bound=Message)


@dataclass(slots=True)
class Found(Generic[K]):
    """The brokers of some keys, or why there is none. Other keys are looked up again; ``waits``
    says why, for the error if the time runs out.
    """

    brokers: dict[K, int] = field(default_factory=dict)
    failed: dict[K, ClientError] = field(default_factory=dict)
    waits: dict[K, ClientError] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome(Generic[K, V]):
    """What a broker's response means for each key. Other keys are requested again from the same
    broker; ``waits`` as in `Found`.
    """

    completed: dict[K, V] = field(default_factory=dict)
    failed: dict[K, ClientError] = field(default_factory=dict)
    moved: list[K] = field(default_factory=list)
    waits: dict[K, ClientError] = field(default_factory=dict)


class Answered(NamedTuple, Generic[A, K]):
    """A broker's response for those keys."""

    answer: A
    node: Node
    keys: list[K]


class Lookup(Protocol[K]):
    """Finds the broker of a key (AdminApiLookupStrategy)."""

    def groups(self, keys: Iterable[K]) -> Iterable[tuple[Hashable, list[K]]]:
        """Which keys are looked up together; each group has its own name."""

    def ask(self, keys: list[K]) -> Ask[Any]: ...

    def found(self, keys: list[K], answer: Any) -> Found[K]: ...

    def unsupported(self, keys: list[K], error: UnsupportedVersionError) -> dict[K, ClientError]:
        """The keys that fail because of it; others are looked up again, in another way."""


class Handler(Protocol[K, V]):
    """The request to the broker of some keys (AdminApiHandler)."""

    name: str

    @property
    def lookup(self) -> Lookup[K]: ...

    def asks(self, broker_id: int, keys: list[K]) -> Iterable[tuple[Ask[Any], list[K]]]:
        """Requests to that broker; the first is sent now, the others after its response."""

    def outcome(self, reply: Answered[Any, K]) -> Outcome[K, V]: ...

    def unsupported(self, keys: list[K], error: UnsupportedVersionError) -> dict[K, ClientError]:
        """The keys that fail because of it; others are requested again, in another way."""


class _At(NamedTuple):
    """Where a key's next request goes: to its broker, or to one that looks it up."""

    broker_id: int | None
    group: Hashable = None


@dataclass(slots=True)
class _Requests:
    """Requests to one destination, one at a time."""

    is_in_flight: bool = False
    tries: int = 0
    delay_ms: int = 0


class Keyed(Generic[K, V]):
    """One call: ``asks`` begins it. With ``home`` that broker gets all requests, without lookups
    (StaticBrokerStrategy).
    """

    def __init__(
        self,
        handler: Handler[K, V],
        results: Results[K, V],
        backoff: ExponentialBackoff,
        home: int | None = None,
    ) -> None:
        self._handler = handler
        self._results = results
        self._backoff = backoff
        self._home = home
        self._brokers: dict[K, int | None] = {}  # None if it has to be looked up
        self._brokers.update(dict.fromkeys(results.rest(), home))
        self._requests: dict[_At, _Requests] = {}
        self._waits: dict[K, ClientError] = {}  # why there is no result yet

    def asks(self) -> Asks:
        yield from self._next_ones()

    def _next_ones(self) -> Iterator[Also]:
        """All requests that may be sent now."""
        for at, ask, keys in [*self._lookups(), *self._fulfilments()]:
            requests = self._requests.setdefault(at, _Requests())
            requests.is_in_flight = True
            asked = _asked_again(ask, requests)
            requests.tries += 1
            yield Also(self._handler.name, self._enquire(at, asked, keys))

    def _lookups(self) -> Iterator[tuple[_At, Ask[Any], list[K]]]:
        unknown = [key for key, broker_id in self._brokers.items() if broker_id is None]
        if unknown:
            for group, keys in self._handler.lookup.groups(unknown):
                at = _At(None, group)
                if not self._is_in_flight(at):
                    yield at, self._handler.lookup.ask(keys), keys

    def _fulfilments(self) -> Iterator[tuple[_At, Ask[Any], list[K]]]:
        at_brokers: dict[int, list[K]] = {}
        for key, broker_id in self._brokers.items():
            if broker_id is not None:
                at_brokers.setdefault(broker_id, []).append(key)
        for broker_id, keys in at_brokers.items():
            if not self._is_in_flight(_At(broker_id)):
                for ask, asked in self._handler.asks(broker_id, keys):
                    yield _At(broker_id), ask, asked
                    break

    def _is_in_flight(self, at: _At) -> bool:
        requests = self._requests.get(at)
        return requests is not None and requests.is_in_flight

    def _enquire(self, at: _At, ask: Ask[Message], keys: list[K]) -> Asks:
        try:
            reply = yield ask
        except ClientError as error:
            self._answered(at)
            self._failed(at, keys, error)
        else:
            self._answered(at)
            self._take(at, keys, reply.message, reply.node)
        yield from self._next_ones()

    def _answered(self, at: _At) -> None:
        requests = self._requests[at]
        requests.is_in_flight = False
        requests.delay_ms = self._backoff.after(requests.tries - 1)

    def _take(self, at: _At, keys: list[K], answer: Any, node: Node) -> None:
        """Results for keys that were not requested from this broker are ignored."""
        asked = set(keys)
        if at.broker_id is None:
            found = self._handler.lookup.found(keys, answer)
            self._fail(_of(asked, found.failed))
            self._waits |= _of(asked, found.waits)
            for key in found.brokers.keys() & self._brokers.keys() & asked:
                self._brokers[key] = found.brokers[key]
                self._waits.pop(key, None)
            return
        outcome = self._handler.outcome(Answered(answer, node, keys))
        for key, value in _of(asked, outcome.completed).items():
            self._results.settle(key, value)
            self._brokers.pop(key, None)
        self._fail(_of(asked, outcome.failed))
        self._waits |= _of(asked, outcome.waits)
        self._look_up_again(outcome.moved)

    def _failed(self, at: _At, keys: list[K], error: ClientError) -> None:
        if isinstance(error, UnsupportedVersionError):
            strategy = self._handler.lookup if at.broker_id is None else self._handler
            self._requests[at].delay_ms = 0  # what comes next is another request
            self._fail(strategy.unsupported(keys, error))
        elif _is_loss(error):
            self._look_up_again(keys)
        else:
            self._fail({key: _with_reason(error, self._waits.get(key)) for key in keys})

    def _look_up_again(self, keys: Iterable[K]) -> None:
        for key in keys:
            if key in self._brokers:
                self._brokers[key] = self._home

    def _fail(self, errors: Mapping[K, ClientError]) -> None:
        for key, error in errors.items():
            self._results.settle(key, error)
            self._brokers.pop(key, None)


def _of(keys: Set[K], told: Mapping[K, T]) -> dict[K, T]:
    return {key: value for key, value in told.items() if key in keys}


def _asked_again(ask: Ask[Message], requests: _Requests) -> Ask[Message]:
    return Ask(
        ask.whom,
        ask.response,
        ask.request,
        ask.accept,
        delay_ms=requests.delay_ms,
        tries=requests.tries,
        on_loss=Loss.IS_RAISED,
    )


def _is_loss(error: ClientError) -> bool:
    """Whether the broker may be gone, and the key have moved to another."""
    return isinstance(error, ConnectionLostError | RequestTimedOutError)


def _with_reason(error: ClientError, why: ClientError | None) -> ClientError:
    """Give a time-out this key's reason, unless it has the last request's error."""
    if why is None or not isinstance(error, TimedOutError) or error.__cause__ is not None:
        return error
    told = TimedOutError(f"{error}: {why}")
    told.__cause__ = why
    return told
