"""What clients did and were told, for the invariants to judge."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Send:
    """One batch of unique records that a client means to append."""

    partition: TopicPartition
    value: int
    records: int


@dataclass(frozen=True, slots=True)
class Acked:
    """An acks=all send succeeded: the leader ``broker`` said that it is at ``first``."""

    send: Send
    broker: int
    first: int

    @property
    def partition(self) -> TopicPartition:
        return self.send.partition

    @property
    def next(self) -> int:
        return self.first + self.send.records


@dataclass(frozen=True, slots=True)
class Polled:
    """A consumer read a batch from ``broker``."""

    partition: TopicPartition
    broker: int
    first: int
    next: int
    value: int


@dataclass(frozen=True, slots=True)
class Refused:
    """An idempotent send was refused as ``error``; ``is_absent``: it must be nowhere."""

    send: Send
    broker: int
    error: str
    is_absent: bool


@dataclass(frozen=True, slots=True)
class Skipped:
    """A consumer was told that its position lies before the log's start, and went on there."""

    partition: TopicPartition
    position: int
    start: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """A leader said that every live replica starts at ``low_watermark``, as asked or later.

    ``members`` are the ISR's brokers when it was asked, each with its registration's czxid.
    """

    partition: TopicPartition
    broker: int
    offset: int
    low_watermark: int
    members: frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class TopicAnswer:
    """What a client was told that creates a topic, which nobody else does.

    ``may_be_there``: an earlier attempt of its ended without an answer.
    """

    name: str
    code: ErrorCode
    may_be_there: bool


@dataclass(frozen=True, slots=True)
class Looked:
    """A group was told by its coordinator ``broker`` what it committed for a partition.

    ``expected``: what that may be, UNKNOWN_OFFSET for nothing.
    """

    group: str
    partition: TopicPartition
    broker: int
    value: int
    expected: tuple[int, ...]
