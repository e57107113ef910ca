"""A cluster asked, and what went wrong there in one line: the last in Spark's trace of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from logquake.client.errors import (
    BrokerError,
    ClientError,
    ConnectionLostError,
    RequestTimedOutError,
)
from logquake.client.routing import Router
from logquake.client.settings import ClientSettings
from logquake.wire.errors import ErrorCode

_MEANINGS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "there is no such topic or partition",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "a right on the topic is missing (Describe; to read it "
    "Read; to write it Write, and exactly once Read too)",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "the right Read on the group is missing",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "the right Write on the transactional id is "
    "missing",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "the right IdempotentWrite on the cluster is missing",
    ErrorCode.PRODUCER_FENCED: "another attempt has taken over",
    ErrorCode.INVALID_PRODUCER_EPOCH: "another attempt has taken over, or "
    "kafka.transaction.timeout.ms is over",
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "kafka.transaction.timeout.ms is above what brokers "
    "allow (transaction.max.timeout.ms)",
}


class BrokersError(Exception):
    """What brokers refused, or did not answer: where, what that means, what they said."""


@contextmanager
def asking(client: ClientSettings, what: str) -> Iterator[Router]:
    """``what`` is done there. Raises BrokersError in the place of ClientError."""
    with Router(client) as router:
        try:
            yield router
        except ClientError as error:
            raise BrokersError(f"{what} at {client.bootstrap_servers}: {told(error)}") from error


def told(error: ClientError) -> str:
    """In a line: what it means, where that is known, and what it says."""
    cause = error.__cause__  # of a batch that was not delivered
    meaning = _meaning(cause if isinstance(cause, ClientError) else error)
    return f"{meaning}: {error}" if meaning else str(error)


def _meaning(error: ClientError) -> str | None:
    if isinstance(error, ConnectionLostError | RequestTimedOutError):
        return "no broker answers"
    return _MEANINGS.get(error.code) if isinstance(error, BrokerError) else None
