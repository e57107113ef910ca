"""Bugs of the group coordinator."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import Any

from logquake.node.coordinators.groups import offset_removal
from logquake.node.coordinators.groups.carrying_out import CarryingOut
from logquake.node.coordinators.groups.group import Group
from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.membership import heartbeats, storing
from logquake.node.coordinators.groups.membership.effects import Store
from logquake.node.coordinators.groups.offset_manager import OffsetManager
from logquake.node.coordinators.groups.offsets.group_offsets import GroupOffsets
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.coordinators.groups.terms import GroupTerm
from logquake.planted.bug import Replace
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition


def take_commits_of_any_generation(replace: Replace) -> None:
    """A member that slept through a rebalance commits for whoever reads its partitions now."""
    replace(heartbeats, "commit_error", lambda *_who, **_how: ErrorCode.NONE)


def tell_assignments_too_soon(replace: Replace) -> None:
    """Members are told of an assignment that the next coordinator may know nothing of."""
    store_it = CarryingOut._store

    def hasty(self: CarryingOut, term: GroupTerm, group: Group, store: Store) -> None:
        store_it(self, term, group, store)
        storing.stored(group.membership, store.purpose, ErrorCode.NONE, self.now())
        self.carry_out(term, group)

    replace(CarryingOut, "_store", hasty)


def load_no_groups(replace: Replace) -> None:
    """The next coordinator knows of no generation, and gives their numbers out again."""
    replace(GroupPartition, "_replay_group", lambda _state, _group_id, _value: None)


def load_no_offsets(replace: Replace) -> None:
    """The next coordinator knows nothing of what was committed."""
    replace(GroupPartition, "_replay_offset", lambda *_: None)


def load_the_first_offset(replace: Replace) -> None:
    """Of each partition the next coordinator knows the oldest commit that is in the log."""
    replay_offset = GroupPartition._replay_offset

    def replay(self: GroupPartition, group_id: str, partition: TopicPartition, record: Any) -> None:
        group = self.get(group_id)
        if group is None or group.offsets.get(partition) is None:
            replay_offset(self, group_id, partition, record)

    replace(GroupPartition, "_replay_offset", replay)


def answer_commits_too_soon(replace: Replace) -> None:
    """A commit is answered when the coordinator alone has it."""
    init = OffsetManager.__init__

    def hasty(self: OffsetManager, partitions: Any, settings: OffsetSettings, *rest: Any) -> None:
        init(self, partitions, changed(settings, commit_required_acks=1), *rest)

    replace(OffsetManager, "__init__", hasty)


def expire_what_is_in_use(replace: Replace) -> None:
    """Offsets go at the next look, whether or not the group has members."""

    def all_of_them(offsets: GroupOffsets, *_: object) -> list[TopicPartition]:
        return [each for each in offsets if not offsets.is_pending(each)]

    replace(offset_removal, "expired", all_of_them)
