"""DescribeGroupsRequest, DescribeGroupsResponse, ListGroupsRequest, ListGroupsResponse, DeleteGroupsRequest, DeleteGroupsResponse."""

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
    """DescribeGroupsRequest."""

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
    """DescribeGroupsResponse."""

    throttle_time_ms: int = int32("1+", ignorable=True)
    groups: list[DescribedGroup] = array(DescribedGroup)


class ListGroupsRequest(Message, key=16, versions="0-5", flexible="3+"):
    """ListGroupsRequest."""

    states_filter: list[str] = array(string, "4+")
    types_filter: list[str] = array(string, "5+")


class ListedGroup(Struct):
    group_id: str = string()
    protocol_type: str = string()
    group_state: str = string("4+", ignorable=True)
    group_type: str = string("5+", ignorable=True)


class ListGroupsResponse(Message, key=16, versions="0-5", flexible="3+"):
    """ListGroupsResponse."""

    throttle_time_ms: int = int32("1+", ignorable=True)
    error_code: int = int16()
    groups: list[ListedGroup] = array(ListedGroup)


class DeleteGroupsRequest(Message, key=42, versions="0-2", flexible="2+"):
    """DeleteGroupsRequest."""

    groups_names: list[str] = array(string)


class DeletableGroupResult(Struct):
    group_id: str = string()
    error_code: int = int16()


class DeleteGroupsResponse(Message, key=42, versions="0-2", flexible="2+"):
    """DeleteGroupsResponse."""

    throttle_time_ms: int = int32()
    results: list[DeletableGroupResult] = array(DeletableGroupResult)
