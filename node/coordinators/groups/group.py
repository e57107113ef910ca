"""One group: its members, and the offsets that are committed in its name.

Where offsets depend on the members, the rules stand here; what the two have in common is only the
group's name.
"""

from __future__ import annotations

from typing import NamedTuple

from logquake.node.coordinators.groups.offsets.expiration import Retention
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets
from logquake.wire.errors import ErrorCode

NO_GENERATION = -1  # OffsetCommitRequest.DEFAULT_GENERATION_ID


class Committer(NamedTuple):
    """Who commits, as it says; a simple consumer says nothing."""

    member_id: str = ""
    instance_id: str | None = None
    generation_id: int = NO_GENERATION


class Group:
    """``generation_id`` is 0 while the group only stores offsets: then no record tells of it."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.generation_id = 0
        self.offsets = GroupOffsets()

    @property
    def is_idle(self) -> bool:
        """Neither members nor offsets: nobody misses it."""
        return self.offsets.is_empty

    def commit_error(self, who: Committer, *, transactional: bool) -> ErrorCode:  # noqa: ARG002
        """Whether it may commit (validateOffsetCommit and doCommitOffsets)."""
        if who.generation_id < 0:
            return ErrorCode.NONE
        return ErrorCode.UNKNOWN_MEMBER_ID

    def note_commit(self, who: Committer) -> None:
        """Whoever commits is alive."""

    def retention(self) -> Retention | None:
        """From when its offsets age; None: they do not."""
        return Retention(None, lambda _topic: False)

    def deletion_error(self) -> ErrorCode:
        """Whether offsets may be deleted at all (handleDeleteOffsets)."""
        return ErrorCode.NONE

    def is_subscribed_to(self, _topic: str) -> bool:
        """Whether its offsets of the topic are in use."""
        return False
