"""What a cluster's brokers coordinate at this moment: groups, and transactions.

Each broker that runs is asked once, for a short time: one that is frozen or loads its logs makes
what it would have told unknown, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from logquake.client.driving.way_in import WayIn
from logquake.client.errors import ClientError
from logquake.client.groups import GroupListing, Groups
from logquake.client.routing import Router
from logquake.client.settings import ClientSettings
from logquake.client.transactions import (
    OPEN_STATES,
    TransactionDescription,
    TransactionListing,
    Transactions,
)

ANSWER_MS = 2_000


@dataclass(slots=True)
class Coordinated:
    """``open_transactions`` are those of ``transactions`` in which something is written."""

    groups: list[GroupListing] = field(default_factory=list)
    transactions: list[TransactionListing] = field(default_factory=list)
    open_transactions: list[TransactionDescription] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  # why, of brokers that did not tell


def coordinated_by(broker_ids: Iterable[int], servers: str, way_in: WayIn) -> Coordinated:
    """In the order of names. Raises ValueError where servers are none."""
    found = Coordinated()
    settings = ClientSettings(servers, request_timeout_ms=ANSWER_MS, api_timeout_ms=ANSWER_MS)
    with Router(settings, way_in=way_in) as router:
        for broker_id in broker_ids:
            try:
                _ask(router, broker_id, found)
            except ClientError as error:
                found.unknown.append(f"what broker {broker_id} coordinates is not known: {error}")
    found.groups.sort(key=lambda group: group.group_id)
    found.transactions.sort(key=lambda transaction: transaction.transactional_id)
    found.open_transactions.sort(key=lambda transaction: transaction.transactional_id)
    return found


def _ask(router: Router, broker_id: int, found: Coordinated) -> None:
    found.groups += Groups(router).list_at(broker_id)
    transactions = Transactions(router)
    listed = transactions.list_at(broker_id)
    found.transactions += listed
    open_ids = [each.transactional_id for each in listed if each.state in OPEN_STATES]
    if open_ids:
        found.open_transactions += transactions.describe_at(broker_id, open_ids)
