"""A cluster asked, and what went wrong there in one line: the last in Spark's trace of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from logquake.client import Admin, Consumer, Producer
from logquake.client.errors import (
    BrokerError,
    ClientError,
    ConnectionLostError,
    ProducerFencedError,
    RequestTimedOutError,
    SettingsError,
)
from logquake.pipeline.options.clients import Keys
from logquake.pipeline.options.functions import with_functions
from logquake.pipeline.options.values import OptionError
from logquake.wire.errors import ErrorCode

_MEANINGS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "there is no such topic or partition",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "a right on the topic is missing (Describe; to read it "
    "Read; to write it Write, and exactly once Read too; to copy its settings DescribeConfigs)",
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
def asking(keys: Keys, what: str) -> Iterator[None]:
    """``what`` is done there. Raises BrokersError in the place of ClientError, and OptionError of
    what cannot be set so.
    """
    try:
        yield
    except SettingsError as error:
        raise OptionError(f"kafka.{error}") from error
    except ClientError as error:
        raise BrokersError(f"{what} at {keys['bootstrap.servers']}: {told(error)}") from error


@contextmanager
def consuming(keys: Keys, what: str) -> Iterator[Consumer]:
    """As `asking`."""
    with asking(keys, what), Consumer(with_functions(keys)) as consumer:
        yield consumer


@contextmanager
def administering(keys: Keys, what: str) -> Iterator[Admin]:
    """As `asking`."""
    with asking(keys, what), Admin(with_functions(keys)) as admin:
        yield admin


@contextmanager
def producing(keys: Keys, what: str) -> Iterator[Producer]:
    """As `asking`. What is not written yet when something fails is given up."""
    with asking(keys, what):
        producer = Producer(with_functions(keys))
        try:
            yield producer
        except BaseException:
            producer.close(timeout_ms=0)
            raise
        producer.close()


def told(error: ClientError) -> str:
    """In a line: what it means, where that is known, and what it says."""
    cause = _first_cause(error)
    meaning = _meaning(cause)
    return f"{meaning}: {cause}" if meaning else str(cause)


def _first_cause(error: ClientError) -> ClientError:
    """Of a record that was not delivered, of a transaction that failed by it."""
    cause = getattr(error, "cause", None)
    return _first_cause(cause) if isinstance(cause, ClientError) else error


def _meaning(error: ClientError) -> str | None:
    if isinstance(error, ConnectionLostError | RequestTimedOutError):
        return "no broker answers"
    if isinstance(error, ProducerFencedError):
        return _MEANINGS[ErrorCode.PRODUCER_FENCED]
    return _MEANINGS.get(error.code) if isinstance(error, BrokerError) else None
