"""Calls that ask every broker, for the groups and transactions that it coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from logquake.client.admin.asking.asks import ANYBODY, Also, Ask, Asks, Broker, Reply, fixed
from logquake.client.admin.asking.results import Results
from logquake.client.errors import ClientError, NoBrokersError
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class ByBroker(Generic[V]):
    """By broker id. Some brokers may fail: `all` raises the error of the first of them."""

    found: Mapping[int, tuple[V, ...]]
    errors: Mapping[int, ClientError] = field(default_factory=dict)

    def all(self) -> tuple[V, ...]:
        """Raises ClientError."""
        for error in self.errors.values():
            raise error
        return self.valid()

    def valid(self) -> tuple[V, ...]:
        """The results of brokers that responded."""
        return tuple(each for found in self.found.values() for each in found)


def ask_every_broker(
    name: str,
    ask: Callable[[Broker], Ask[Any]],
    told: Callable[[Any], tuple[V, ...]],
    results: Results[None, ByBroker[V]],
) -> Asks:
    """Asks all brokers in the metadata. ``told`` raises ClientError for an error response."""
    reply: Reply[MetadataResponse] = yield Ask(
        ANYBODY, MetadataResponse, fixed(MetadataRequest(topics=[])), _check_brokers
    )
    gathered: _Gathered[V] = _Gathered(
        results, dict.fromkeys(sorted(each.node_id for each in reply.message.brokers))
    )
    for broker_id in gathered.brokers:
        yield Also(name, _ask_one(broker_id, ask, told, gathered))


def _check_brokers(answer: MetadataResponse) -> None:
    """A broker that has just started may not know any brokers."""
    if not answer.brokers:
        raise NoBrokersError("the broker knows of no other, nor of itself")


@dataclass(slots=True)
class _Gathered(Generic[V]):
    results: Results[None, ByBroker[V]]
    brokers: dict[int, tuple[V, ...] | ClientError | None]

    def told(self, broker_id: int, outcome: tuple[V, ...] | ClientError) -> None:
        self.brokers[broker_id] = outcome
        if all(each is not None for each in self.brokers.values()):
            found = {b: each for b, each in self.brokers.items() if isinstance(each, tuple)}
            errors = {b: each for b, each in self.brokers.items() if isinstance(each, ClientError)}
            self.results.settle(None, ByBroker(found, errors))


def _ask_one(
    broker_id: int,
    ask: Callable[[Broker], Ask[Any]],
    told: Callable[[Any], tuple[V, ...]],
    gathered: _Gathered[V],
) -> Asks:
    try:
        reply = yield ask(Broker(broker_id))
        gathered.told(broker_id, told(reply.message))
    except ClientError as error:
        gathered.told(broker_id, error)
