"""What a group's record being stored, or not, means for it (storeGroup's callback)."""

from __future__ import annotations

from logquake.node.coordinators.append_errors import OF_GROUPS, told_as
from logquake.node.coordinators.groups.membership import static_members, syncing
from logquake.node.coordinators.groups.membership.effects import Assigned, Purpose, Replaced
from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.values import Moment
from logquake.wire.errors import ErrorCode


def stored(group: ClassicGroup, purpose: Purpose, appended: ErrorCode, at: Moment) -> None:
    """``appended`` is how the append of its record went."""
    error = told_as(appended, OF_GROUPS)
    if isinstance(purpose, Assigned):
        syncing.stored(group, purpose, error, at)
    elif isinstance(purpose, Replaced):
        static_members.stored(group, purpose, error, at)
