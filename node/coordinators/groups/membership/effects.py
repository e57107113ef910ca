"""What follows of an event, for a shell to carry out in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from logquake.node.coordinators.groups.membership.members import Member
from logquake.node.coordinators.groups.membership.values import (
    Join,
    JoinReply,
    JoinResult,
    SyncReply,
    SyncResult,
)
from logquake.wire.messages.coordinator_records import GroupMetadataValue


class AnswerJoin(NamedTuple):
    reply: JoinReply
    result: JoinResult

    def answer(self) -> None:
        self.reply(self.result)


class AnswerSync(NamedTuple):
    reply: SyncReply
    result: SyncResult

    def answer(self) -> None:
        self.reply(self.result)


@dataclass(frozen=True, slots=True)
class StateChanged:
    """For the journal: from one state to the next, by its name, and why."""

    before: str
    after: str
    generation_id: int
    why: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """The leader's assignment of a generation is stored: then it holds."""

    generation_id: int
    leader_id: str
    assignments: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Replaced:
    """A static member's new id is stored: then it may know of it.

    ``member`` had the id and the time-outs of ``before`` when ``leader_id`` led.
    """

    member: Member
    join: Join
    old_member_id: str
    old_session_timeout_ms: int
    old_rebalance_timeout_ms: int
    leader_id: str | None


@dataclass(frozen=True, slots=True)
class Emptied:
    """That nobody is left is stored. If it is not, nothing is lost but a member's time-out."""


Purpose = Assigned | Replaced | Emptied


@dataclass(frozen=True, slots=True)
class Store:
    """Append the group's record, and tell ``storing.stored`` how that went."""

    value: GroupMetadataValue
    purpose: Purpose


Effect = AnswerJoin | AnswerSync | StateChanged | Store
