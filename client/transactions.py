"""Transactions as an administrator sees them (KIP-664): which there are, since when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logquake.client.errors import check
from logquake.client.routing import Router
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    DescribeTransactionsResponseTransactionState,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from logquake.wire.sentinels import NO_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

# From the first partition on until the markers are written: then readers of committed records wait.
OPEN_STATES = ("Ongoing", "PrepareCommit", "PrepareAbort")


@dataclass(frozen=True, slots=True)
class TransactionListing:
    transactional_id: str
    producer_id: int
    state: str
    coordinator: int


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    coordinator: int
    timeout_ms: int
    started_ms: int | None  # Unix time; None where none was begun
    partitions: tuple[TopicPartition, ...]


class Transactions:
    """One broker is asked, once, for what it coordinates. All methods raise ClientError."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def list_at(self, broker_id: int) -> list[TransactionListing]:
        answer = self._router.broker(broker_id).request(
            ListTransactionsRequest(), ListTransactionsResponse
        )
        check(answer.error_code, f"transactions of broker {broker_id}")
        return [
            TransactionListing(
                each.transactional_id, each.producer_id, each.transaction_state, broker_id
            )
            for each in answer.transaction_states
        ]

    def describe_at(
        self, broker_id: int, transactional_ids: Sequence[str]
    ) -> list[TransactionDescription]:
        request = DescribeTransactionsRequest(transactional_ids=list(transactional_ids))
        answer = self._router.broker(broker_id).request(request, DescribeTransactionsResponse)
        for each in answer.transaction_states:
            check(each.error_code, f"transactional id {each.transactional_id}")
        return [_description(each, broker_id) for each in answer.transaction_states]


def _description(
    found: DescribeTransactionsResponseTransactionState, coordinator: int
) -> TransactionDescription:
    started_ms = found.transaction_start_time_ms
    partitions = [
        TopicPartition(topic.topic, partition)
        for topic in found.topics
        for partition in topic.partitions
    ]
    return TransactionDescription(
        found.transactional_id,
        found.producer_id,
        found.producer_epoch,
        found.transaction_state,
        coordinator,
        found.transaction_timeout_ms,
        None if started_ms == NO_TIMESTAMP else started_ms,
        tuple(sorted(partitions)),
    )
