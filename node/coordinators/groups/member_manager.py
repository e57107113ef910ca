"""Joining, assigning, heartbeats, leaving; describing, listing and deleting groups: what a request
means for a term.

GroupCoordinator's handleJoinGroup, handleSyncGroup, handleHeartbeat, handleLeaveGroup,
handleDescribeGroup, handleListGroups and handleDeleteGroups, onGroupLoaded and onGroupUnloaded.
What is decided is the matter of ``membership``; here the group is found that it is decided for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from logquake.node.coordinators.groups.carrying_out import CarryingOut
from logquake.node.coordinators.groups.membership import (
    deadlines,
    ending,
    heartbeats,
    joining,
    leaving,
    syncing,
)
from logquake.node.coordinators.groups.membership.description import (
    CLASSIC,
    DEAD,
    describe,
    overview,
)
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.membership.values import (
    Join,
    JoinResult,
    Leaver,
    Sync,
    SyncResult,
)
from logquake.node.coordinators.groups.offset_removal import OffsetRemoval
from logquake.node.coordinators.groups.terms import GroupPartitions, GroupTerm
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_admin import DescribedGroup, ListedGroup
from logquake.wire.sentinels import UNKNOWN_MEMBER_ID

_LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


class MemberManager:
    def __init__(
        self,
        partitions: GroupPartitions,
        settings: GroupSettings,
        removal: OffsetRemoval,
        effects: CarryingOut,
    ) -> None:
        self._partitions = partitions
        self._settings = settings
        self._removal = removal
        self._effects = effects

    # Members

    def join(self, group_id: str, asked: Join) -> None:
        """Whoever has no id yet may found a group."""
        term = self._find(group_id)
        if isinstance(term, ErrorCode):
            asked.reply(JoinResult(term, asked.member_id))
            return
        if not self._settings.allows_session_timeout(asked.session_timeout_ms):
            asked.reply(JoinResult(ErrorCode.INVALID_SESSION_TIMEOUT, asked.member_id))
            return
        is_new = asked.member_id == UNKNOWN_MEMBER_ID
        group = term.state.get_or_add(group_id) if is_new else term.state.get(group_id)
        if group is None:
            asked.reply(JoinResult(ErrorCode.UNKNOWN_MEMBER_ID, asked.member_id))
            return
        joining.join(group.membership, asked, self._effects.now())
        self._effects.carry_out(term, group)

    def sync(self, group_id: str, asked: Sync) -> None:
        """What was being assigned is lost where the log is still loaded: all join anew."""
        term = self._find(group_id)
        group = None if isinstance(term, ErrorCode) else term.state.get(group_id)
        if isinstance(term, ErrorCode):
            told = ErrorCode.REBALANCE_IN_PROGRESS if term is _LOADING else term
            asked.reply(SyncResult(told))
        elif group is None:
            asked.reply(SyncResult(ErrorCode.UNKNOWN_MEMBER_ID))
        else:
            syncing.sync(group.membership, asked, self._effects.now())
            self._effects.carry_out(term, group)

    def heartbeat(
        self, group_id: str, member_id: str, instance_id: str | None, generation_id: int
    ) -> ErrorCode:
        """Any is taken for good while the log is loaded."""
        term = self._find(group_id)
        if isinstance(term, ErrorCode):
            return ErrorCode.NONE if term is _LOADING else term
        group = term.state.get(group_id)
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        membership = group.membership
        expected_ms = membership.wake_ms
        error = heartbeats.heartbeat(
            membership, member_id, instance_id, generation_id, self._effects.now()
        )
        if membership.wake_ms != expected_ms:  # else nothing follows: a deadline moved away
            self._effects.carry_out(term, group)
        return error

    def leave(self, group_id: str, leavers: Sequence[Leaver]) -> list[ErrorCode] | ErrorCode:
        """An error for each of them, or one for all."""
        term = self._find(group_id)
        if isinstance(term, ErrorCode):
            return term
        group = term.state.get(group_id)
        if group is None:
            return [ErrorCode.UNKNOWN_MEMBER_ID] * len(leavers)
        at = self._effects.now()
        errors = [leaving.leave(group.membership, leaver, at) for leaver in leavers]
        self._effects.carry_out(term, group)
        return errors

    # Groups

    def describe(self, group_id: str) -> DescribedGroup:
        """One that is not there is Dead."""
        term = self._partitions.find(group_id)
        if isinstance(term, ErrorCode):
            return DescribedGroup(error_code=term, group_id=group_id)
        group = term.state.get(group_id)
        if group is None:
            return DescribedGroup(group_id=group_id, group_state=DEAD)
        return describe(group.membership)

    def list_groups(
        self, states: Collection[str], types: Collection[str]
    ) -> tuple[ErrorCode, list[ListedGroup]]:
        """Those in one of the states and of one of the types, if any are named, in any case.

        COORDINATOR_LOAD_IN_PROGRESS where some are not known yet.
        """
        wanted = {state.lower() for state in states}
        all_types = not types or CLASSIC in {each.lower() for each in types}
        groups = [group.membership for term in self._partitions for group in term.state]
        listed = [
            overview(group)
            for group in groups
            if all_types and (not wanted or group.state.name.lower() in wanted)
        ]
        return _LOADING if self._partitions.is_loading else ErrorCode.NONE, listed

    def delete(self, group_id: str) -> ErrorCode:
        """Of an empty group, at once: Kafka does not wait for the tombstones either (KIP-229)."""
        term = self._partitions.find(group_id)
        if isinstance(term, ErrorCode):
            return term
        group = term.state.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if not group.membership.is_empty:
            return ErrorCode.NON_EMPTY_GROUP
        ending.delete(group.membership, "an administrator deleted it", self._effects.now())
        self._removal.bury(term, group)
        return ErrorCode.NONE

    # Terms

    def term_began(self, term: GroupTerm) -> None:
        for group in term.state:
            deadlines.begin_sessions(group.membership, self._effects.now())
            self._effects.carry_out(term, group)

    def term_ended(self, term: GroupTerm) -> None:
        for group in term.state:
            ending.unload(group.membership, self._effects.now())
            self._effects.carry_out(term, group)

    def _find(self, group_id: str) -> GroupTerm | ErrorCode:
        return self._partitions.find(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
