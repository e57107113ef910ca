"""What administrators are shown of a group (DescribeGroups, ListGroups)."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership.group import ClassicGroup
from logquake.node.coordinators.groups.membership.members import Member
from logquake.node.coordinators.groups.membership.states import Dead, Stable
from logquake.wire.messages.group_admin import DescribedGroup, DescribedGroupMember, ListedGroup

CLASSIC = "classic"
DEAD = Dead.name


def describe(group: ClassicGroup) -> DescribedGroup:
    """Only in a stable group is it settled what its members said and were given."""
    is_stable = isinstance(group.state, Stable)
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.name,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if is_stable else "",
        members=[_describe_member(group, member, is_stable) for member in group.members],
    )


def overview(group: ClassicGroup) -> ListedGroup:
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type or "",
        group_state=group.state.name,
        group_type=CLASSIC,
    )


def _describe_member(group: ClassicGroup, member: Member, is_stable: bool) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata(group.protocol_name) if is_stable else b"",
        member_assignment=member.assignment if is_stable else b"",
    )
