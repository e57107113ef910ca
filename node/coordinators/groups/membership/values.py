"""What members ask, and what they are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_GENERATION

NO_LEADER = ""


class Moment(NamedTuple):
    """``now_ms`` is monotonic, for deadlines; ``wall_ms`` is the Unix time, for what is written."""

    now_ms: int
    wall_ms: int


class Protocol(NamedTuple):
    """A way of assigning that a member knows, "range" say, and what it says in it."""

    name: str
    metadata: bytes


class JoinedMember(NamedTuple):
    """What a leader is told of each member, to assign by."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinResult(NamedTuple):
    """A generation, or why there is none; ``members`` are for its leader."""

    error: ErrorCode
    member_id: str
    generation_id: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str | None = NO_LEADER
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class SyncResult(NamedTuple):
    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


JoinReply = Callable[[JoinResult], None]
SyncReply = Callable[[SyncResult], None]


class Join(NamedTuple):
    """A JoinGroup.

    ``unique`` makes a member id of the name of who has none yet. ``needs_member_id``: who joins
    without an id is sent back with one first (KIP-394). ``can_skip_assignment``: a static leader
    may be told that it leads, and that there is nothing to assign (KIP-814).
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[Protocol, ...]
    reason: str
    unique: str
    needs_member_id: bool
    can_skip_assignment: bool
    reply: JoinReply

    @property
    def new_member_id(self) -> str:
        named = self.client_id if self.group_instance_id is None else self.group_instance_id
        return f"{named}-{self.unique}"


class Sync(NamedTuple):
    """A SyncGroup; ``assignments`` are from a leader, by member id."""

    member_id: str
    group_instance_id: str | None
    generation_id: int
    protocol_type: str | None
    protocol_name: str | None
    assignments: Mapping[str, bytes]
    reply: SyncReply


class Leaver(NamedTuple):
    """One who leaves, or is made to: a static member may be named by its instance id alone."""

    member_id: str
    group_instance_id: str | None
    reason: str
