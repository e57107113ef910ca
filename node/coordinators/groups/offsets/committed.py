"""What is committed for one partition."""

from __future__ import annotations

from typing import NamedTuple

from logquake.wire.sentinels import NO_LEADER_EPOCH


class OffsetAndMetadata(NamedTuple):
    """Kafka's class of the name. ``expire_ms`` is of commits that brought a retention time of
    their own (OffsetCommit 2 to 4); times are Unix times.
    """

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_ms: int = 0
    expire_ms: int | None = None


class LoggedOffset(NamedTuple):
    """A commit and where its batch lies: of two for a partition the later one in the log holds."""

    batch_offset: int
    value: OffsetAndMetadata
