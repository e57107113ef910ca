"""What a cluster's brokers coordinate at this moment: groups, and transactions.

Each broker that runs is asked once, for a short time: one that does not answer, or loads its logs,
makes what it would have told unknown, and no more. An admin client would ask those that others take
for alive, frozen ones too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from logquake.client.driving.way_in import WayIn
from logquake.client.errors import ClientError, check
from logquake.client.settings import Address
from logquake.cluster.observing.broker_connections import BrokerConnections, dial_as
from logquake.cluster.observing.groups import ListedGroup
from logquake.cluster.observing.onlookers import ONLOOKER
from logquake.wire.messages.group_admin import ListGroupsRequest, ListGroupsResponse
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    DescribeTransactionsResponseTransactionState,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from logquake.wire.sentinels import NO_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

ANSWER_MS = 2_000
# From the first partition on until the markers are written: then readers of committed records wait.
OPEN_STATES = ("Ongoing", "PrepareCommit", "PrepareAbort")


class ListedTransaction(NamedTuple):
    transactional_id: str
    producer_id: int
    state: str
    coordinator: int


class OpenTransaction(NamedTuple):
    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    coordinator: int
    timeout_ms: int
    started_ms: int | None  # Unix time; None where it has just ended
    partitions: tuple[TopicPartition, ...]


@dataclass(slots=True)
class Coordinated:
    """``open_transactions`` are those of ``transactions`` in which something is written."""

    groups: list[ListedGroup] = field(default_factory=list)
    transactions: list[ListedTransaction] = field(default_factory=list)
    open_transactions: list[OpenTransaction] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  # why, of brokers that did not tell


def coordinated_by(brokers: Mapping[int, Address], way_in: WayIn) -> Coordinated:
    """In the order of names; ``brokers`` are those that run, by id."""
    connections = BrokerConnections(dial_as(ONLOOKER, ANSWER_MS, way_in))
    try:
        return told_by(brokers, connections)
    finally:
        connections.close()


def told_by(brokers: Mapping[int, Address], connections: BrokerConnections) -> Coordinated:
    """As coordinated_by()."""
    found = Coordinated()
    for broker_id, address in sorted(brokers.items()):
        asked = _Asked(broker_id, address, connections)
        try:
            found.groups += asked.groups()
            found.transactions += (listed := asked.transactions())
            found.open_transactions += asked.open_transactions(listed)
        except ClientError as error:
            found.unknown.append(f"what broker {broker_id} coordinates: {error}")
    found.groups.sort()
    found.transactions.sort()
    found.open_transactions.sort(key=lambda one: one.transactional_id)
    return found


class _Asked(NamedTuple):
    """A broker. All methods raise ClientError."""

    broker_id: int
    address: Address
    connections: BrokerConnections

    def groups(self) -> list[ListedGroup]:
        answer = self.connections.ask(self.address, ListGroupsRequest(), ListGroupsResponse)
        check(answer.error_code, f"groups of broker {self.broker_id}")
        return [
            ListedGroup(each.group_id, each.protocol_type, each.group_state, self.broker_id)
            for each in answer.groups
        ]

    def transactions(self) -> list[ListedTransaction]:
        request = ListTransactionsRequest()
        answer = self.connections.ask(self.address, request, ListTransactionsResponse)
        check(answer.error_code, f"transactions of broker {self.broker_id}")
        return [
            ListedTransaction(
                each.transactional_id, each.producer_id, each.transaction_state, self.broker_id
            )
            for each in answer.transaction_states
        ]

    def open_transactions(self, listed: list[ListedTransaction]) -> list[OpenTransaction]:
        ids = [each.transactional_id for each in listed if each.state in OPEN_STATES]
        if not ids:
            return []
        request = DescribeTransactionsRequest(transactional_ids=ids)
        answer = self.connections.ask(self.address, request, DescribeTransactionsResponse)
        for each in answer.transaction_states:
            check(each.error_code, f"transactional id {each.transactional_id}")
        return [_open(each, self.broker_id) for each in answer.transaction_states]


def _open(told: DescribeTransactionsResponseTransactionState, coordinator: int) -> OpenTransaction:
    started_ms = told.transaction_start_time_ms
    places = (
        TopicPartition(topic.topic, partition)
        for topic in told.topics
        for partition in topic.partitions
    )
    return OpenTransaction(
        told.transactional_id,
        told.producer_id,
        told.producer_epoch,
        told.transaction_state,
        coordinator,
        told.transaction_timeout_ms,
        None if started_ms == NO_TIMESTAMP else started_ms,
        tuple(sorted(places)),
    )
