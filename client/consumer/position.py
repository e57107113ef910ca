"""A position in a partition, and the leader epoch that vouches for it (SubscriptionState)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from logquake.client.errors import OffsetOutOfRangeError
from logquake.wire.sentinels import NO_LEADER, NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition


class LeaderAndEpoch(NamedTuple):
    """NO_LEADER without a leader; NO_LEADER_EPOCH from brokers that report no epochs."""

    node_id: int = NO_LEADER
    epoch: int = NO_LEADER_EPOCH


class FetchPosition(NamedTuple):
    """``offset`` is the next to be read. ``epoch`` is that of the record before it, if it was read:
    a log without that epoch was truncated (KIP-320).
    """

    offset: int
    epoch: int = NO_LEADER_EPOCH
    leader: LeaderAndEpoch = LeaderAndEpoch()

    @property
    def can_be_validated(self) -> bool:
        return self.epoch != NO_LEADER_EPOCH and self.leader.epoch != NO_LEADER_EPOCH


class EpochEnd(NamedTuple):
    """A leader's answer about an epoch (OffsetForLeaderEpoch): -1 if it knows none."""

    epoch: int
    end_offset: int

    @property
    def is_undefined(self) -> bool:
        return self.epoch < 0 or self.end_offset < 0


class LogTruncation(NamedTuple):
    """Records that were read are no longer in the log; ``diverges_at`` is None if unknown."""

    place: TopicPartition
    position: FetchPosition
    diverges_at: EpochEnd | None

    def __str__(self) -> str:
        since = "an unknown offset" if self.diverges_at is None else self.diverges_at.end_offset
        offset, epoch = self.position.offset, self.position.epoch
        return f"{self.place} at {offset} (epoch {epoch}): the log differs from {since} on"


class LogTruncatedError(OffsetOutOfRangeError):
    """Records that were read are lost, and auto.offset.reset is none: seek() to continue (Kafka's
    LogTruncationException).
    """

    def __init__(self, truncations: Sequence[LogTruncation]) -> None:
        offsets = {each.place: each.position.offset for each in truncations}
        super().__init__("; ".join(map(str, truncations)), offsets)
        self.truncations = truncations
