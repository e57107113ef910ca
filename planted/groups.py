"""Bugs of who is a member of a group, and of which generation."""

from __future__ import annotations

from logquake.node.coordinators.groups.carrying_out import CarryingOut
from logquake.node.coordinators.groups.group import Group
from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.membership import heartbeats, storing
from logquake.node.coordinators.groups.membership.effects import Store
from logquake.node.coordinators.groups.terms import GroupTerm
from logquake.planted.bug import Replace
from logquake.wire.errors import ErrorCode


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
