"""Transactions: listed and described, and their producers fenced (KIP-664).

ListTransactions asks every broker; the others are handlers of calls by transactional id, sent to
its coordinator: DescribeTransactionsHandler and FenceProducersHandler.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from logquake.client.admin.asking.asks import Ask, Asks, Broker, Terms, fixed
from logquake.client.admin.asking.by_broker import ByBroker, ask_every_broker
from logquake.client.admin.asking.coordinators import Coordinators
from logquake.client.admin.asking.keyed import Answered, Outcome
from logquake.client.admin.asking.refusals import if_it_passes
from logquake.client.admin.asking.results import Results
from logquake.client.consumer.assignors.subscriptions import places
from logquake.client.errors import ClientError, UnsupportedVersionError, broker_error, check
from logquake.client.network.coordinator_lookups import COORDINATOR_MOVED
from logquake.client.network.effects import Node
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    DescribeTransactionsResponseTransactionState,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from logquake.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

NO_DURATION = -1
_DURATIONS_SINCE = 1  # KIP-994
_LOADING = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,)
_WAITS = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.CONCURRENT_TRANSACTIONS)


@dataclass(frozen=True, slots=True)
class TransactionListing:
    transactional_id: str
    producer_id: int
    state: str


def list_transactions(
    states: Collection[str],
    producer_ids: Collection[int],
    duration_ms: int,
    results: Results[None, ByBroker[TransactionListing]],
) -> Asks:
    """Filters by state, producer id and minimum duration; an empty filter matches any."""

    def request(terms: Terms) -> Message:
        if duration_ms != NO_DURATION and terms.version < _DURATIONS_SINCE:
            raise UnsupportedVersionError("the broker does not look how long they last (KIP-994)")
        return ListTransactionsRequest(
            state_filters=list(states),
            producer_id_filters=list(producer_ids),
            duration_filter=duration_ms,
        )

    def ask(broker: Broker) -> Ask[ListTransactionsResponse]:
        return Ask(broker, ListTransactionsResponse, request, _is_loaded)

    return ask_every_broker("listTransactions", ask, _listings, results)


def _is_loaded(answer: ListTransactionsResponse) -> None:
    if_it_passes(answer.error_code, "the broker's transactions", _LOADING)


def _listings(answer: ListTransactionsResponse) -> tuple[TransactionListing, ...]:
    check(answer.error_code, "the broker's transactions")
    return tuple(
        TransactionListing(each.transactional_id, each.producer_id, each.transaction_state)
        for each in answer.transaction_states
    )


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    """``start_time_ms`` is Unix time, None if no transaction was begun."""

    coordinator_id: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int | None
    partitions: frozenset[TopicPartition]


class DescribeTransactions:
    name = "describeTransactions"

    def __init__(self) -> None:
        self.lookup = Coordinators(CoordinatorType.TRANSACTION)

    def asks(self, broker_id: int, keys: list[str]) -> Iterator[tuple[Ask[Message], list[str]]]:
        request = DescribeTransactionsRequest(transactional_ids=keys)
        yield Ask(Broker(broker_id), DescribeTransactionsResponse, fixed(request)), keys

    def outcome(
        self, reply: Answered[DescribeTransactionsResponse, str]
    ) -> Outcome[str, TransactionDescription]:
        outcome: Outcome[str, TransactionDescription] = Outcome()
        for told in reply.answer.transaction_states:
            if told.error_code == ErrorCode.NONE:
                outcome.completed[told.transactional_id] = _description(told, reply.node)
            else:
                _sort_out(outcome, told.transactional_id, told.error_code)
        return outcome

    def unsupported(
        self, keys: list[str], error: UnsupportedVersionError
    ) -> dict[str, ClientError]:
        return dict.fromkeys(keys, error)


def _description(
    told: DescribeTransactionsResponseTransactionState, node: Node
) -> TransactionDescription:
    started_ms = told.transaction_start_time_ms
    return TransactionDescription(
        node.id,
        told.transaction_state,
        told.producer_id,
        told.producer_epoch,
        told.transaction_timeout_ms,
        None if started_ms < 0 else started_ms,
        frozenset(places((each.topic, each.partitions) for each in told.topics)),
    )


def _sort_out(outcome: Outcome[str, Any], transactional_id: str, code: int) -> None:
    known = ErrorCode.of_peer(code)
    if known in COORDINATOR_MOVED:
        outcome.moved.append(transactional_id)
    elif known not in _WAITS:
        error = broker_error(code, f"transactional id {transactional_id}")
        outcome.failed[transactional_id] = error


@dataclass(frozen=True, slots=True)
class ProducerIdAndEpoch:
    """The new identity, which fences the previous producer."""

    producer_id: int
    epoch: int


class FenceProducers:
    """Initializes each id like a new producer: fences the old one, aborts its transaction."""

    name = "fenceProducer"

    def __init__(self, transaction_timeout_ms: int) -> None:
        self.lookup = Coordinators(CoordinatorType.TRANSACTION)
        self._transaction_timeout_ms = transaction_timeout_ms

    def asks(self, broker_id: int, keys: list[str]) -> Iterator[tuple[Ask[Message], list[str]]]:
        """One request per id: it cannot contain more."""
        for key in keys:
            request = InitProducerIdRequest(
                transactional_id=key, transaction_timeout_ms=self._transaction_timeout_ms
            )
            yield Ask(Broker(broker_id), InitProducerIdResponse, fixed(request)), [key]

    def outcome(
        self, reply: Answered[InitProducerIdResponse, str]
    ) -> Outcome[str, ProducerIdAndEpoch]:
        answer = reply.answer
        outcome: Outcome[str, ProducerIdAndEpoch] = Outcome()
        (key,) = reply.keys
        if answer.error_code == ErrorCode.NONE:
            identity = ProducerIdAndEpoch(answer.producer_id, answer.producer_epoch)
            outcome.completed[key] = identity
        else:
            _sort_out(outcome, key, answer.error_code)
        return outcome

    def unsupported(
        self, keys: list[str], error: UnsupportedVersionError
    ) -> dict[str, ClientError]:
        return dict.fromkeys(keys, error)
