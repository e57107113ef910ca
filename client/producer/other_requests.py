"""A producer's requests other than Produce: for an id, or about transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from logquake.client.network.metadata import Metadata
from logquake.client.network.network_client import NetworkClient
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.idempotence.id_requests import IdRequests
from logquake.client.producer.idempotence.idempotence import Idempotence
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.transactions.requests import TransactionRequests
from logquake.client.producer.transactions.transactions import Transactions


class OtherRequests(Protocol):
    def poll(self, now_ms: int) -> bool:
        """Send what is due. Returns whether the producer may send records."""

    def next_due_ms(self, now_ms: int) -> int | None: ...


class NoOtherRequests:
    """Without idempotence."""

    def poll(self, _now_ms: int) -> bool:
        return True

    def next_due_ms(self, _now_ms: int) -> int | None:
        return None


def other_requests_of(
    numbering: Unnumbered | Idempotence | Transactions,
    network: NetworkClient,
    metadata: Metadata,
    accumulator: Accumulator,
    retry_backoff_ms: int,
    awaits_answers: Callable[[], bool],
) -> OtherRequests:
    if isinstance(numbering, Transactions):
        return TransactionRequests(
            network, metadata, numbering, accumulator, retry_backoff_ms, awaits_answers
        )
    if isinstance(numbering, Idempotence):
        return IdRequests(network, numbering, retry_backoff_ms, accumulator.abort)
    return NoOtherRequests()
