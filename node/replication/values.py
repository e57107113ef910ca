"""The values that request handlers exchange with the parts of the ReplicaManager.

How a handler uses it::

    # Produce: done is called once, at the end of this pass or later, results in entry order.
    appends.add(entries, acks, timeout_ms, done)

    # Fetch: the session says what is fetched and what of the results is worth sending.
    context = sessions.open(session_id, session_epoch, params, by_topic_id=...,
                            partitions=[FetchPartition(...)], forgotten=[key, ...])
    if context.error: reply with it
    fetches.fetch(params, context, done)   # done(reads), of what the session has to look at
    answer = context.answer(reads)         # error, session_id, [(partition, result)]

    # The others answer at once.
    manager.list_offset(...) -> ListedOffset
    manager.end_offset_for_epoch(...) -> EpochEndOffset

Records never get copied on the way: ``ProduceEntry.records`` is a writable view of the receive
buffer that must stay untouched until the end of the pass, ``FetchResult.records`` is storage's
LogSlice (its length is its bytes), ready for sendfile. Absent values are Kafka's sentinels.

Values of the hot path are slotted but not frozen: freezing costs 0.5 us an object. Treat them
as immutable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from logquake.node.replication.resting import RestingPlace
from logquake.storage.log.slice import LogSlice
from logquake.storage.producers.verification import VerificationGuard
from logquake.storage.segments.txn_index import AbortedTransaction
from logquake.wire.errors import ErrorCode
from logquake.wire.records import BatchHeader
from logquake.wire.sentinels import NO_LEADER_EPOCH, NO_TIMESTAMP, UNKNOWN_OFFSET

# (topic id, partition) in requests by topic id (Fetch 13+), else (topic name, partition).
PartitionKey = tuple[bytes | str, int]


@dataclass(frozen=True, slots=True)
class LeaderHint:
    """Who leads, as far as this broker knows: KIP-951's CurrentLeader."""

    leader_id: int
    leader_epoch: int


@dataclass(slots=True)
class ProduceEntry:
    """One partition of a Produce request.

    ``header`` is that of the one batch in ``records``, where it was read already. Without it they
    may be an old producer's message set. ``guard`` is that of the verification of a transaction
    which may begin with it (transactions/verification.py).
    """

    topic: str
    partition: int
    records: memoryview  # writable: offsets and epoch are patched in place
    header: BatchHeader | None = None
    guard: VerificationGuard | None = None


@dataclass(slots=True)
class ProduceResult:
    """One partition of a Produce response.

    With an error, ``base_offset`` is unknown unless the records were appended all the same
    (NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT).
    """

    topic: str
    partition: int
    error: ErrorCode = ErrorCode.NONE
    base_offset: int = UNKNOWN_OFFSET
    log_append_time_ms: int = NO_TIMESTAMP
    log_start_offset: int = UNKNOWN_OFFSET
    error_message: str | None = None
    record_errors: tuple[tuple[int, str], ...] = ()  # (index in the batch, message), KIP-467
    current_leader: LeaderHint | None = None


class Isolation(IntEnum):
    """How far a fetch may read."""

    HIGH_WATERMARK = 0  # read_uncommitted
    TXN_COMMITTED = 1  # read_committed: the last stable offset
    LOG_END = 2  # followers


class FetchAccess(Protocol):
    """What the asker may read. Equal ones refuse the same topics."""

    def refuses(self, topic: str | None) -> bool:
        """Of a topic id that nobody knows there is no name."""


@dataclass(slots=True)
class FetchParams:
    """What holds for a whole Fetch request. ``access`` is None where there is no authorizer.

    ``only_leader``: a follower's fetch, or a consumer's below version 11 (KIP-392), must be
    answered by the leader. ``hard_max_bytes``: versions 0 to 2, which do not return a first
    batch above the limit.
    """

    replica_id: int  # CONSUMER_REPLICA_ID for consumers
    replica_epoch: int  # the follower's broker epoch (Fetch 15+), else UNKNOWN_BROKER_EPOCH
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation: Isolation
    only_leader: bool = True
    hard_max_bytes: bool = False
    access: FetchAccess | None = None

    @property
    def from_follower(self) -> bool:
        return self.replica_id >= 0


@dataclass(slots=True)
class FetchPartition:
    """One partition of a Fetch request. ``topic`` is None where only the id is known.

    ``turn``: whose is lower is read first, while the response still has room.
    """

    key: PartitionKey
    topic: str | None
    topic_id: bytes
    partition: int
    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int = NO_LEADER_EPOCH
    last_fetched_epoch: int = NO_LEADER_EPOCH
    log_start_offset: int = UNKNOWN_OFFSET  # the follower's
    turn: int = 0


@dataclass(frozen=True, slots=True)
class EpochEndOffset:
    """The end of a leader epoch; as OffsetForLeaderEpoch's answer it can carry an error."""

    error: ErrorCode
    leader_epoch: int
    end_offset: int


@dataclass(slots=True)
class FetchResult:
    """One partition of a Fetch response. ``records`` is None where there are none, and bytes
    where they had to be converted for an old consumer.

    ``aborted`` is what readers of committed records must skip; None for other readers.
    ``is_final``: the same reader gets the same until the partition changes.
    """

    error: ErrorCode = ErrorCode.NONE
    high_watermark: int = UNKNOWN_OFFSET
    last_stable_offset: int = UNKNOWN_OFFSET
    log_start_offset: int = UNKNOWN_OFFSET
    records: LogSlice | bytes | None = None
    aborted: Sequence[AbortedTransaction] | None = None
    diverging_epoch: EpochEndOffset | None = None
    current_leader: LeaderHint | None = None
    is_final: bool = False


class PartitionRead:
    """One partition of a Fetch as it was last read.

    ``rests_at`` is the partition where the result is final, as of its ``changes``.
    """

    __slots__ = ("asked", "changes", "rests_at", "result")

    def __init__(self, asked: FetchPartition, result: FetchResult) -> None:
        self.asked = asked
        self.result = result
        self.rests_at: RestingPlace | None = None
        self.changes = 0


@dataclass(frozen=True, slots=True)
class FetchAnswer:
    """What a Fetch response carries: partitions that need no mention are left out."""

    error: ErrorCode
    session_id: int
    partitions: Sequence[tuple[FetchPartition, FetchResult]]


@dataclass(slots=True)
class DeletedRecords:
    """One partition of a DeleteRecords response; the low watermark may follow later."""

    error: ErrorCode
    low_watermark: int = UNKNOWN_OFFSET


@dataclass(frozen=True, slots=True)
class ListedOffset:
    """One partition of a ListOffsets response; without offset and timestamp if nothing matches."""

    error: ErrorCode
    timestamp_ms: int = NO_TIMESTAMP
    offset: int = UNKNOWN_OFFSET
    leader_epoch: int = NO_LEADER_EPOCH
