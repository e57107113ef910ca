"""What a group's member commits, and as whom: what a consumer hands to a producer (KIP-447)."""

from __future__ import annotations

from typing import NamedTuple

from logquake.wire.sentinels import NO_GENERATION, NO_LEADER_EPOCH, UNKNOWN_MEMBER_ID


class OffsetAndMetadata(NamedTuple):
    """``offset`` is the next one to read, ``leader_epoch`` that of the record before it, and
    ``metadata`` what the committer tells along with it (OffsetAndMetadata).
    """

    offset: int
    metadata: str = ""
    leader_epoch: int = NO_LEADER_EPOCH


class GroupMetadata(NamedTuple):
    """Who commits: a member in its generation, or nobody in particular (ConsumerGroupMetadata).

    A coordinator refuses a member that the group has gone on without.
    """

    group_id: str
    generation_id: int = NO_GENERATION
    member_id: str = UNKNOWN_MEMBER_ID
    group_instance_id: str | None = None

    @property
    def is_anonymous(self) -> bool:
        return self == GroupMetadata(self.group_id)
