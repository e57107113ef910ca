"""A member's identity, and its stage on the way to the next generation
(AbstractCoordinator.MemberState).

Out ──▶ ToJoin ──▶ Wishing ──▶ Joining ──▶ Electing ◀──▶ Assigns ──▶ Syncing ──▶ Joined ──▶ Stable
          ▲                                                                                   │
          └───────────────────────────────────────────────────────────────────────────────────┘
A member joins only when its program polls and gives up what it has to. It owns the new assignment
once it has polled again. Any failure leads back to ToJoin, or, if the member's id is lost, to Out;
`Halted` has an error for the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from logquake.client.consumer.group.errands import Errand
from logquake.client.errors import ClientError
from logquake.wire.messages.group_membership import JoinGroupResponse
from logquake.wire.sentinels import NO_GENERATION, UNKNOWN_MEMBER_ID
from logquake.wire.topic_partition import TopicPartition

EncodedAssignment: TypeAlias = Mapping[str, bytes]
"""Assignments by member id, as encoded in SyncGroup."""


class Generation(NamedTuple):
    """``protocol`` is the assignor's name. The member id may be known before the generation, since
    the coordinator assigns it first (KIP-394).
    """

    id: int = NO_GENERATION
    member_id: str = UNKNOWN_MEMBER_ID
    protocol: str | None = None

    @property
    def is_known(self) -> bool:
        return self.id > NO_GENERATION and self.member_id != UNKNOWN_MEMBER_ID


@dataclass(frozen=True, slots=True, eq=False)
class Out:
    """Not a member."""


@dataclass(frozen=True, slots=True, eq=False)
class ToJoin:
    """The program has given up the partitions that it had to."""

    not_before_ms: int


@dataclass(frozen=True, slots=True, eq=False)
class Wishing:
    """The assignors are making their user data for the group's leader."""

    errand: Errand[Mapping[str, bytes | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Joining:
    """JoinGroup is in flight: the coordinator waits for the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Electing:
    """This member leads, and waits for its topics' metadata: for the first update after that many.
    ``given`` is the assignment, if its assignor has already made it.
    """

    joined: JoinGroupResponse
    updates: int
    given: EncodedAssignment | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Assigns:
    """This member leads, and its assignor is running; it may add topics that no member named."""

    joined: JoinGroupResponse
    errand: Errand[tuple[EncodedAssignment, frozenset[str]]]


@dataclass(frozen=True, slots=True, eq=False)
class Syncing:
    """SyncGroup is in flight: the coordinator waits for the leader."""


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """The program has not been told yet."""

    places: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Stable:
    """The program has been told."""


@dataclass(frozen=True, slots=True, eq=False)
class Halted:
    """The group refuses this member, and the program decides whether to retry: its poll raises
    ``error``, and the one after that tries again.
    """

    error: ClientError | None


Stage = Out | ToJoin | Wishing | Joining | Electing | Assigns | Syncing | Joined | Stable | Halted
BetweenGenerations = ToJoin | Wishing | Joining | Electing | Assigns | Syncing | Halted
InGeneration = Electing | Assigns | Syncing | Joined | Stable  # sends heartbeats
