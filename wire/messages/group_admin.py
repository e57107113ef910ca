"""Listing, describing and deleting groups."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    binary,
    boolean,
    int16,
    int32,
    string,
)


class DescribeGroupsRequest(Message, key=15, versions="0-5", flexible="5+"):
    """State and members of classic groups.

    3: authorized operations (KIP-430). 5: flexible.
    """

    groups: list[str] = array(string)
    include_authorized_operations: bool = boolean("3+")


class DescribedGroupMember(Struct):
    member_id: str = string()
    group_instance_id: str | None = string("4+", nullable="4+", default=None, ignorable=True)
    client_id: str = string()
    client_host: str = string()
    member_metadata: bytes = binary()
    member_assignment: bytes = binary()


class DescribedGroup(Struct):
    error_code: int = int16()
    group_id: str = string()
    group_state: str = string()
    protocol_type: str = string()
    protocol_data: str = string()
    members: list[DescribedGroupMember] = array(DescribedGroupMember)
    authorized_operations: int = int32("3+", default=-2147483648)


class DescribeGroupsResponse(Message, key=15, versions="0-5", flexible="5+"):
    """Subscriptions and assignments are as the members wrote them.

    1: throttle time. 3: authorized operations (KIP-430). 4: group_instance_id (KIP-345). 5:
    flexible.
    """

    throttle_time_ms: int = int32("1+", ignorable=True)
    groups: list[DescribedGroup] = array(DescribedGroup)


class ListGroupsRequest(Message, key=16, versions="0-5", flexible="3+"):
    """The groups that one broker coordinates.

    3: flexible. 4: states_filter (KIP-518). 5: types_filter (KIP-848).
    """

    states_filter: list[str] = array(string, "4+")
    types_filter: list[str] = array(string, "5+")


class ListedGroup(Struct):
    group_id: str = string()
    protocol_type: str = string()
    group_state: str = string("4+", ignorable=True)
    group_type: str = string("5+", ignorable=True)


class ListGroupsResponse(Message, key=16, versions="0-5", flexible="3+"):
    """Ids and protocol types.

    1: throttle time. 3: flexible. 4: group_state (KIP-518). 5: group_type (KIP-848).
    """

    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16()
    groups: list[ListedGroup] = array(ListedGroup)


class DeleteGroupsRequest(Message, key=42, versions="0-2", flexible="2+"):
    """Deletes empty groups with their offsets (KIP-229).

    2: flexible.
    """

    groups_names: list[str] = array(string)


class DeletableGroupResult(Struct):
    group_id: str = string()
    error_code: int = int16()


class DeleteGroupsResponse(Message, key=42, versions="0-2", flexible="2+"):
    """An error a group, such as NON_EMPTY_GROUP.

    2: flexible.
    """

    throttle_time_ms: int = int32()
    results: list[DeletableGroupResult] = array(DeletableGroupResult)
