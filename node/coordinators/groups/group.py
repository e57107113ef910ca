"""One group: its members, and the offsets that are committed in its name.

Where offsets depend on the members, the rules stand here; what the two have in common is only the
group's name.
"""

from __future__ import annotations

from typing import NamedTuple

from logquake.node.coordinators.groups.membership import heartbeats
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.membership.states import Stable
from logquake.node.coordinators.groups.membership.values import Moment
from logquake.node.coordinators.groups.offsets.expiration import Retention
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_GENERATION


class Committer(NamedTuple):
    """Who commits, as it says; a simple consumer says nothing."""

    member_id: str = ""
    instance_id: str | None = None
    generation_id: int = NO_GENERATION


class Group:
    """``generation_id`` is 0 while the group only stores offsets: then no record tells of it."""

    def __init__(self, group_id: str, settings: GroupSettings) -> None:
        self.group_id = group_id
        self.membership = ClassicGroup(group_id, settings)
        self.offsets = GroupOffsets()

    @property
    def generation_id(self) -> int:
        return self.membership.generation_id

    @property
    def is_idle(self) -> bool:
        """Neither members nor offsets: nobody misses it."""
        return self.membership.is_empty and self.offsets.is_empty

    def commit_error(self, who: Committer, *, transactional: bool) -> ErrorCode:
        """Whether it may commit (validateOffsetCommit and doCommitOffsets)."""
        return heartbeats.commit_error(
            self.membership,
            who.member_id,
            who.instance_id,
            who.generation_id,
            transactional=transactional,
        )

    def note_commit(self, who: Committer, at: Moment) -> None:
        """Whoever commits is alive."""
        heartbeats.note_commit(self.membership, who.member_id, at)

    def retention(self) -> Retention | None:
        """From when its offsets age; None: they do not."""
        membership = self.membership
        if membership.protocol_type is None:
            return Retention(None, lambda _topic: False)
        if membership.is_empty:
            return Retention(membership.state_changed_ms, lambda _topic: False)
        if membership.is_consumer_group and isinstance(membership.state, Stable):
            return Retention(None, membership.is_subscribed_to)
        return None

    def deletion_error(self) -> ErrorCode:
        """Whether offsets may be deleted at all (handleDeleteOffsets)."""
        if self.membership.is_empty or self.membership.is_consumer_group:
            return ErrorCode.NONE
        return ErrorCode.NON_EMPTY_GROUP

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether its offsets of the topic are in use."""
        return not self.membership.is_empty and self.membership.is_subscribed_to(topic)
