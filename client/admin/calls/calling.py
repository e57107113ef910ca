"""Beginning a call, and the promises that it returns (KafkaAdminClient.invokeDriver and others)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import isfunction
from typing import Any, TypeVar

from logquake.client.admin.asking.asks import Asks
from logquake.client.admin.asking.enquiries import Enquiries
from logquake.client.admin.asking.keyed import Handler, Keyed
from logquake.client.admin.asking.results import Outcome, Results
from logquake.client.admin.signatures import held_to_its_signature
from logquake.client.clock import Clock
from logquake.client.errors import ClientError, broker_error
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.pending import Promise
from logquake.client.telling import Telling
from logquake.wire.errors import ErrorCode

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Makings:
    """What calls are made of."""

    enquiries: Enquiries
    telling: Telling
    clock: Clock
    backoff: ExponentialBackoff
    default_api_timeout_ms: int
    request_timeout_ms: int
    new_salt: Callable[[], bytes]


class Calling:
    """The public methods of its subclasses here are calls, and check their arguments first."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if Calling in cls.__bases__:
            for name, call in list(vars(cls).items()):
                if isfunction(call) and not name.startswith("_"):
                    setattr(cls, name, held_to_its_signature(call))

    def __init__(self, makings: Makings) -> None:
        self._makings = makings

    def _each(
        self,
        name: str,
        keys: Iterable[K],
        begin: Callable[[list[K], Results[K, V]], Asks],
        timeout_ms: int | None,
        refused: Mapping[K, ClientError] | None = None,
    ) -> dict[K, Promise[V]]:
        """``refused`` are the errors of items that are refused without asking a broker."""
        promises: dict[K, Promise[V]] = {key: self._promise() for key in keys}
        for key, error in (refused or {}).items():
            promises[key].settle(error)
        left = [key for key in promises if key not in (refused or {})]
        if left:
            results: Results[K, V] = Results(promises)
            self._begin(name, begin(left, results), results, timeout_ms)
        return promises

    def _by_whom(
        self,
        name: str,
        asked: Iterable[tuple[W, list[K]]],
        begin: Callable[[W, list[K], Results[K, V]], Asks],
        timeout_ms: int | None,
    ) -> dict[K, Promise[V]]:
        """Each broker is asked for its own keys."""
        promises: dict[K, Promise[V]] = {}
        for whom, keys in asked:
            promises |= self._each(name, keys, partial(begin, whom), timeout_ms)
        return promises

    def _one(
        self, name: str, begin: Callable[[Results[None, V]], Asks], timeout_ms: int | None
    ) -> Promise[V]:
        promise: Promise[V] = self._promise()
        results: Results[None, V] = Results({None: promise})
        self._begin(name, begin(results), results, timeout_ms)
        return promise

    def _keyed(
        self,
        handler: Handler[K, V],
        keys: Iterable[K],
        timeout_ms: int | None,
        home: int | None = None,
    ) -> dict[K, Promise[V]]:
        def begin(_: list[K], results: Results[K, V]) -> Asks:
            return Keyed(handler, results, self._makings.backoff, home).asks()

        return self._each(handler.name, keys, begin, timeout_ms)

    def _about(
        self, handler: Handler[str, Any], key: str, outcome: Outcome, timeout_ms: int | None
    ) -> None:
        """A call with one key, whose outcome goes to ``outcome``, not to the program."""
        results: Results[str, Any] = Results({key: outcome})
        asks = Keyed(handler, results, self._makings.backoff).asks()
        self._begin(handler.name, asks, results, timeout_ms)

    def _begin(
        self, name: str, asks: Asks, results: Results[Any, Any], timeout_ms: int | None
    ) -> None:
        made_of = self._makings
        made_of.enquiries.begin(
            name, asks, results, self._time_ms(timeout_ms), made_of.clock.now_ms()
        )

    def _deadline_ms(self, timeout_ms: int | None) -> int:
        """The deadline of a call that begins now, for the calls that it consists of."""
        return self._makings.clock.now_ms() + self._time_ms(timeout_ms)

    def _time_ms(self, timeout_ms: int | None) -> int:
        return self._makings.default_api_timeout_ms if timeout_ms is None else timeout_ms

    def _promise(self) -> Promise[Any]:
        return Promise(self._makings.telling)


def without_name(names: Iterable[str]) -> dict[str, ClientError]:
    """Errors for topics without a name."""
    return {
        name: broker_error(ErrorCode.INVALID_TOPIC_EXCEPTION, "a topic has to have a name")
        for name in names
        if not name
    }
