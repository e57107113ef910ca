"""How far the transaction of a transactional id is: one type a state (Kafka's TransactionState).

Every state has ``partitions``, what is part of the transaction and still without a marker, and
``started_ms``, the wall clock at its first partition; they are fields where they can differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from logquake.wire.sentinels import NO_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

Partitions = frozenset[TopicPartition]

_NONE: Partitions = frozenset()


@dataclass(frozen=True, slots=True)
class Empty:
    """Its producer has not begun a transaction since it was initialized.

    ``started_ms`` is the latest transaction's, as Kafka tells it; the log has no place for it, and
    so a coordinator that reads the log does not know it.
    """

    partitions: ClassVar[Partitions] = _NONE
    started_ms: int = NO_TIMESTAMP


@dataclass(frozen=True, slots=True)
class Ongoing:
    """Begun, and not decided."""

    partitions: Partitions
    started_ms: int


@dataclass(frozen=True, slots=True)
class PrepareCommit:
    """Decided, for good: whoever coordinates writes the markers until every partition has one."""

    partitions: Partitions
    started_ms: int


@dataclass(frozen=True, slots=True)
class PrepareAbort:
    """As PrepareCommit, the other way."""

    partitions: Partitions
    started_ms: int


@dataclass(frozen=True, slots=True)
class CompleteCommit:
    """Every partition has its marker."""

    partitions: ClassVar[Partitions] = _NONE
    started_ms: int


@dataclass(frozen=True, slots=True)
class CompleteAbort:
    partitions: ClassVar[Partitions] = _NONE
    started_ms: int


@dataclass(frozen=True, slots=True)
class Dead:
    """Expired: its tombstone is being written. It is in no log."""

    partitions: ClassVar[Partitions] = _NONE
    started_ms: ClassVar[int] = NO_TIMESTAMP


@dataclass(frozen=True, slots=True)
class PrepareEpochFence:
    """Its producer is to be fenced. That becomes PrepareAbort at once, so nobody sees it; but it
    has a number in the log's format, and ListTransactions knows its name.
    """

    partitions: ClassVar[Partitions] = _NONE
    started_ms: ClassVar[int] = NO_TIMESTAMP


TransactionState = (
    Empty
    | Ongoing
    | PrepareCommit
    | PrepareAbort
    | CompleteCommit
    | CompleteAbort
    | Dead
    | PrepareEpochFence
)
Prepared = PrepareCommit | PrepareAbort
Complete = CompleteCommit | CompleteAbort

#: By their numbers in __transaction_state.
STATES: tuple[type[TransactionState], ...] = (
    Empty,
    Ongoing,
    PrepareCommit,
    PrepareAbort,
    CompleteCommit,
    CompleteAbort,
    Dead,
    PrepareEpochFence,
)


def state_name(state: TransactionState) -> str:
    """As DescribeTransactions says it."""
    return type(state).__name__


def state_number(state: TransactionState) -> int:
    return STATES.index(type(state))


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """As messages group them; in one order, whoever asks."""
    grouped: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        grouped.setdefault(topic, []).append(index)
    return grouped
