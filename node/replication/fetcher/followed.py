"""One partition that a fetcher copies, from the moment this broker became its follower.

A new leader epoch makes a new object: an answer to what the old one asked cannot be mistaken for
one to the new.
"""

from __future__ import annotations

from enum import Enum, auto

from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.values import PartitionKey
from logquake.wire.sentinels import NO_LEADER_EPOCH

NOT_SENT = -1


class Phase(Enum):
    FETCHING = auto()
    RESTING = auto()  # after an error
    RESETTING = auto()  # its offset is out of the leader's range; ListOffsets is under way


class Followed:
    """``fetch_offset`` and ``last_fetched_epoch`` are where this log ends, the ``sent_`` ones what
    the leader's session has of it, and of where this log starts.
    """

    __slots__ = (
        "fetch_offset",
        "is_behind",
        "key",
        "last_fetched_epoch",
        "leader_epoch",
        "partition",
        "phase",
        "rests",
        "resume_at_ms",
        "sent_epoch",
        "sent_offset",
        "sent_start",
    )

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.key: PartitionKey = (partition.topic_id, partition.index)
        self.leader_epoch = partition.leader_epoch
        self.phase = Phase.FETCHING
        self.resume_at_ms = 0
        self.is_behind = False  # of what was committed when it was last answered
        self.rests = 0  # after an error that a leader which is about to lead answers
        self.sent_offset = NOT_SENT
        self.sent_epoch = NO_LEADER_EPOCH
        self.sent_start = NOT_SENT
        self.fetch_offset = 0
        self.last_fetched_epoch = NO_LEADER_EPOCH
        self.follow_log()

    def follow_log(self) -> None:
        """Take the position from the log, after it changed."""
        replica = self.partition.replica
        self.fetch_offset = replica.end
        latest = replica.latest_epoch
        self.last_fetched_epoch = NO_LEADER_EPOCH if latest is None else latest

    @property
    def is_throttled(self) -> bool:
        partition = self.partition
        return partition.config.throttled_followers.includes(
            partition.index, partition.context.broker_id
        )

    def rest_until(self, resume_at_ms: int) -> None:
        self.phase = Phase.RESTING
        self.resume_at_ms = resume_at_ms

    def mark_sent(self) -> None:
        self.sent_offset = self.fetch_offset
        self.sent_epoch = self.last_fetched_epoch
        self.sent_start = self.partition.replica.start

    def has_moved(self) -> bool:
        """Whether the leader must be told of another position than it was.

        A truncation can drop an epoch without records: the offset stays and the epoch changes.
        """
        return (
            self.sent_offset != self.fetch_offset
            or self.sent_epoch != self.last_fetched_epoch
            or self.sent_start != self.partition.replica.start
        )

    def expects_answer(self) -> bool:
        """Whether an answer given now is one to its present position."""
        return self.phase is Phase.FETCHING and self.sent_offset == self.fetch_offset
