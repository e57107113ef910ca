"""What a response means for a producer's transactions (TxnRequestHandler.handleResponse)."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.client.errors import BrokerError, ClientError, ProducerFencedError
from logquake.client.network.coordinator_lookups import COORDINATOR_MOVED
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.transactions.producer_states import Remedy
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Found:
    """The coordinator is that broker."""

    node_id: int


@dataclass(frozen=True, slots=True)
class Named:
    """The producer has this identity from now on."""

    identity: Identity


@dataclass(frozen=True, slots=True)
class Added:
    """The partitions are part of the transaction."""

    places: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class GroupAdded:
    """Offsets of the group can be committed."""


@dataclass(frozen=True, slots=True)
class OffsetsCommitted:
    """The offsets are part of the transaction."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The coordinator has ended the transaction."""


@dataclass(frozen=True, slots=True)
class Again:
    """Retry after a back-off, with a new coordinator lookup if it ``moved``."""

    moved: bool = False
    at_most_ms: int | None = None  # a limit for the back-off


@dataclass(frozen=True, slots=True)
class Abortable:
    """The transaction cannot be committed."""

    error: ClientError
    remedy: Remedy = Remedy.ABORT


@dataclass(frozen=True, slots=True)
class Denied:
    """No id was granted; a producer that is authorized later may ask again."""

    error: ClientError


@dataclass(frozen=True, slots=True)
class Fatal:
    error: ClientError


Verdict = (
    Found
    | Named
    | Added
    | GroupAdded
    | OffsetsCommitted
    | Ended
    | Again
    | Abortable
    | Denied
    | Fatal
)

# INVALID_PRODUCER_EPOCH is the error of coordinators before 2.7 for a fenced producer (KIP-588).
FENCED = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED})
_REMEDIES = {
    ErrorCode.TRANSACTION_ABORTABLE: Remedy.ABORT,
    ErrorCode.UNKNOWN_PRODUCER_ID: Remedy.NEXT_EPOCH,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING: Remedy.NEW_ID,
}


def remedy_of(code: ErrorCode) -> Remedy | None:
    """None for an error that an abort does not repair."""
    return _REMEDIES.get(code)


def on_refusal(code: ErrorCode, context: str) -> Again | Abortable | Fatal:
    """The handling of errors that most requests share."""
    if code in COORDINATOR_MOVED:
        return Again(moved=True)
    if code.retriable:
        return Again()
    if code in FENCED:
        return Fatal(ProducerFencedError(context))
    remedy = remedy_of(code)
    error = BrokerError(code, context)
    return Fatal(error) if remedy is None else Abortable(error, remedy)
