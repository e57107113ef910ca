"""One classic group: its state, generation and members, and what follows of the last event."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership.effects import (
    AnswerJoin,
    AnswerSync,
    Effect,
    StateChanged,
)
from logquake.node.coordinators.groups.membership.members import Member, Members
from logquake.node.coordinators.groups.membership.pending import PendingMembers
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.membership.states import (
    CompletingRebalance,
    Dead,
    Empty,
    GroupState,
    PreparingRebalance,
    Stable,
    Syncing,
)
from logquake.node.coordinators.groups.membership.subscriptions import Subscriptions
from logquake.node.coordinators.groups.membership.values import (
    JoinResult,
    Moment,
    SyncResult,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_MEMBER_ID

CONSUMER_PROTOCOL_TYPE = "consumer"


class ClassicGroup:
    """What the events of this folder change.

    ``wake_ms`` is when `deadlines.pass_deadlines` is to be called next: no deadline lies before it,
    though the one that it was set for may have gone. ``member_added`` since the last delay of a
    group that forms. ``state_changed_ms`` is the Unix time, None if that is not known.
    A group that only stores offsets is Empty, and its generation is 0.
    """

    def __init__(self, group_id: str, settings: GroupSettings) -> None:
        self.group_id = group_id
        self.settings = settings
        self.state: GroupState = Empty()
        self.state_changed_ms: int | None = None
        self.generation_id = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.members = Members()
        self.pending = PendingMembers()
        self.subscriptions = Subscriptions(None)
        self.member_added = False
        self.wake_ms: int | None = None
        self._effects: list[Effect] = []

    def take_effects(self) -> list[Effect]:
        """All that the last event brought about."""
        effects, self._effects = self._effects, []
        return effects

    def emit(self, effect: Effect) -> None:
        self._effects.append(effect)

    # States

    def enter(self, state: GroupState, why: str, at: Moment) -> None:
        self.emit(StateChanged(self.state.name, state.name, self.generation_id, why))
        self.state = state
        self.state_changed_ms = at.wall_ms

    @property
    def is_empty(self) -> bool:
        return isinstance(self.state, Empty)

    @property
    def is_dead(self) -> bool:
        return isinstance(self.state, Dead)

    @property
    def is_preparing(self) -> bool:
        return isinstance(self.state, PreparingRebalance)

    @property
    def has_all_joined(self) -> bool:
        return len(self.members) == self.members.joined and not self.pending

    @property
    def syncing(self) -> Syncing | None:
        """Who is still to ask for its assignment, in the states in which somebody may."""
        if isinstance(self.state, CompletingRebalance | Stable):
            return self.state.syncing
        return None

    @property
    def is_consumer_group(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether its members consume that topic, as far as can be known; in doubt they do."""
        topics = self.subscriptions.topics if self.is_consumer_group else None
        return topics is None or topic in topics

    def note_subscriptions(self) -> None:
        """Those of this generation are what `is_subscribed_to` goes by, whatever is said later."""
        name = self.protocol_name
        unknown = len(self.members) > 0 and name is None
        said = () if unknown else tuple(member.metadata(name) for member in self.members)
        self.subscriptions = Subscriptions(None if unknown else said)

    # Deadlines

    def expect(self, deadline_ms: int) -> None:
        if self.wake_ms is None or deadline_ms < self.wake_ms:
            self.wake_ms = deadline_ms

    def renew_session(self, member: Member, at: Moment) -> None:
        """It has shown itself, or it could not meanwhile."""
        self.expire_after(member, member.session_timeout_ms, at)

    def expire_after(self, member: Member, timeout_ms: int, at: Moment) -> None:
        member.expires_ms = at.now_ms + timeout_ms
        self.expect(member.expires_ms)

    # Members and their requests

    def supports(self, protocol_type: str, names: set[str]) -> bool:
        """Whether one who knows these may be a member (GroupMetadata.supportsProtocols)."""
        if self.is_empty:
            return bool(protocol_type) and bool(names)
        return self.protocol_type == protocol_type and self.members.know_one_of(names)

    def forget(self, member_id: str) -> None:
        """Let nobody have that id; what still waited for that member is told so."""
        self.pending.discard(member_id)
        if self.syncing is not None:
            self.syncing.missing.pop(member_id, None)
        if member_id in self.members:
            member = self.members[member_id]
            self.answer_join(member, JoinResult(ErrorCode.UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID))
            self.answer_sync(member, SyncResult(ErrorCode.UNKNOWN_MEMBER_ID))
            self.members.remove(member)

    def answer_join(self, member: Member, result: JoinResult) -> None:
        """If it waits for that."""
        reply = self.members.take_join(member)
        if reply is not None:
            self.emit(AnswerJoin(reply, result))

    def answer_sync(self, member: Member, result: SyncResult) -> bool:
        """If it waits for that; whether it did."""
        reply, member.sync = member.sync, None
        if reply is None:
            return False
        self.emit(AnswerSync(reply, result))
        return True
