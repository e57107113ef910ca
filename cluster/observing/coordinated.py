"""What a cluster's brokers coordinate at this moment: groups, and transactions.

All are asked at the same time, once, and for a short time: one that is frozen or loads its logs
makes what it would have told unknown, and no more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from logquake.client import Admin
from logquake.client.admin import (
    ByBroker,
    TransactionDescription,
    TransactionListing,
)
from logquake.client.errors import ClientError
from logquake.client.sync.futures import Future
from logquake.cluster.observing.groups import ListedGroup, listed_groups
from logquake.cluster.observing.onlookers import ONLOOKER
from logquake.wire.topic_partition import TopicPartition

ANSWER_MS = 2_000
# Without an answer at once there is none: what is wanted is what is so now.
_ASKED_ONCE = {
    "client.id": ONLOOKER,
    "request.timeout.ms": ANSWER_MS,
    "default.api.timeout.ms": ANSWER_MS,
    "socket.connection.setup.timeout.ms": ANSWER_MS,
}
# From the first partition on until the markers are written: then readers of committed records wait.
OPEN_STATES = ("Ongoing", "PrepareCommit", "PrepareAbort")

V = TypeVar("V")


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


def coordinated_by(broker_ids: Collection[int], config: Mapping[str, object]) -> Coordinated:
    """In the order of names; ``unknown`` tells of these brokers. ``config`` is a client's."""
    found = Coordinated()
    admin = Admin({**config, **_ASKED_ONCE})
    try:
        groups, transactions = admin.list_consumer_groups(), admin.list_transactions()
        found.groups = listed_groups(_told(groups, broker_ids, "groups", found))
        listed = _told(transactions, broker_ids, "transactions", found)
        found.transactions = _listed_transactions(listed)
        _describe_open(admin, found)
    finally:
        admin.close(timeout_ms=0)
    return found


def _told(
    asked: Future[ByBroker[V]], broker_ids: Iterable[int], what: str, found: Coordinated
) -> ByBroker[V]:
    try:
        told = asked.result()
    except ClientError as error:
        told = ByBroker({}, dict.fromkeys(broker_ids, error))
    for broker_id in broker_ids:
        if why := told.errors.get(broker_id):
            found.unknown.append(f"the {what} that broker {broker_id} coordinates: {why}")
    return told


def _listed_transactions(told: ByBroker[TransactionListing]) -> list[ListedTransaction]:
    return sorted(
        ListedTransaction(each.transactional_id, each.producer_id, each.state, broker_id)
        for broker_id, listed in told.found.items()
        for each in listed
    )


def _describe_open(admin: Admin, found: Coordinated) -> None:
    wanted = [each.transactional_id for each in found.transactions if each.state in OPEN_STATES]
    for transactional_id, described in admin.describe_transactions(wanted).items():
        try:
            told = described.result()
        except ClientError as error:
            found.unknown.append(f"what transaction {transactional_id} is like: {error}")
        else:
            found.open_transactions.append(_open(transactional_id, told))


def _open(transactional_id: str, told: TransactionDescription) -> OpenTransaction:
    return OpenTransaction(
        transactional_id,
        told.producer_id,
        told.producer_epoch,
        told.state,
        told.coordinator_id,
        told.timeout_ms,
        told.start_time_ms,
        tuple(sorted(told.partitions)),
    )
