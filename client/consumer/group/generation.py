"""A member's identity, and its stage on the way to the next generation
(AbstractCoordinator.MemberState).

Out ──▶ ToJoin ──▶ Wishing ──▶ Joining ──▶ Electing ◀──▶ Assigns ──▶ Syncing ──▶ Joined ──▶ Stable
          ▲                                                                                   │
          └───────────────────────────────────────────────────────────────────────────────────┘
A program has to poll for its member to join: it gives up what it has to. It owns what was assigned
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
"""By member id, as SyncGroup says it."""


class Generation(NamedTuple):
    """``protocol`` is the assignor's name. There may be a member id before there is a generation:
    the coordinator hands it out first (KIP-394).
    """

    id: int = NO_GENERATION
    member_id: str = UNKNOWN_MEMBER_ID
    protocol: str | None = None

    @property
    def is_known(self) -> bool:
        return self.id > NO_GENERATION and self.member_id != UNKNOWN_MEMBER_ID


@dataclass(frozen=True, slots=True, eq=False)
class Out:
    """No member."""


@dataclass(frozen=True, slots=True, eq=False)
class ToJoin:
    """The program has given up what it had to."""

    not_before_ms: int


@dataclass(frozen=True, slots=True, eq=False)
class Wishing:
    """The assignors are asked what the group's leader shall know, by their names."""

    errand: Errand[Mapping[str, bytes | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Joining:
    """JoinGroup is in flight: the coordinator waits for the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Electing:
    """This member leads, and waits for what it has to know of the topics, told with the metadata's
    update after that many. ``given`` is what its assignor has made of them already.
    """

    joined: JoinGroupResponse
    updates: int
    given: EncodedAssignment | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Assigns:
    """This member leads, and its assignor is at work; topics that nobody had named come with it."""

    joined: JoinGroupResponse
    errand: Errand[tuple[EncodedAssignment, frozenset[str]]]


@dataclass(frozen=True, slots=True, eq=False)
class Syncing:
    """SyncGroup is in flight: the coordinator waits for the leader."""


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """The program has not heard of it yet."""

    places: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Stable:
    """The program has."""


@dataclass(frozen=True, slots=True, eq=False)
class Halted:
    """The group does not take this member, and trying again is the program's to decide: its poll
    raises ``error``, and the one after that tries.
    """

    error: ClientError | None


Stage = Out | ToJoin | Wishing | Joining | Electing | Assigns | Syncing | Joined | Stable | Halted
BetweenGenerations = ToJoin | Wishing | Joining | Electing | Assigns | Syncing | Halted
InGeneration = Electing | Assigns | Syncing | Joined | Stable  # beats
