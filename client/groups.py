"""Groups as an administrator sees them: who there is, their members, their end.

A broker knows the groups that it coordinates. A group that nobody has heard of is described as
Dead, as by Kafka.
"""

from __future__ import annotations

from dataclasses import dataclass

from logquake.client.consumer.assignors.subscriptions import CONSUMERS, decode_assignment
from logquake.client.coordinators import coordinator_of, group_coordinator
from logquake.client.errors import check
from logquake.client.routing import Router
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_admin import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from logquake.wire.messages.group_membership import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from logquake.wire.topic_partition import TopicPartition

STABLE = "Stable"
DEAD = "Dead"
_WITHOUT_MEMBERS = ("Empty", DEAD)


@dataclass(frozen=True, slots=True)
class GroupListing:
    group_id: str
    protocol_type: str  # "" of a group that only commits
    state: str  # "" of a broker from before KIP-518
    coordinator: int


@dataclass(frozen=True, slots=True)
class GroupMember:
    member_id: str
    instance_id: str | None  # of a static member
    client_id: str
    host: str
    assigned: tuple[TopicPartition, ...]  # in order; none in other groups than consumers'


@dataclass(frozen=True, slots=True)
class GroupDescription:
    group_id: str
    state: str
    protocol_type: str
    protocol: str  # the assignor's name; "" between two generations
    coordinator: int
    members: tuple[GroupMember, ...]

    @property
    def is_active(self) -> bool:
        """Has members, or is about to: then nobody else may commit for it."""
        return self.state not in _WITHOUT_MEMBERS


class Groups:
    """All methods raise ClientError: BrokerError with Kafka's code where a broker refused."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def list_all(self) -> list[GroupListing]:
        """Of all brokers, by name."""

        def attempt() -> list[GroupListing]:
            brokers = sorted(each.node_id for each in self._router.metadata([]).brokers)
            found = [listing for broker_id in brokers for listing in self.list_at(broker_id)]
            return sorted(found, key=lambda listing: listing.group_id)

        return self._router.with_retries(attempt)

    def list_at(self, broker_id: int) -> list[GroupListing]:
        """Those that one broker coordinates; asked once."""
        answer = self._router.broker(broker_id).request(ListGroupsRequest(), ListGroupsResponse)
        check(answer.error_code, f"groups of broker {broker_id}")
        return [
            GroupListing(each.group_id, each.protocol_type, each.group_state, broker_id)
            for each in answer.groups
        ]

    def describe(self, group_id: str) -> GroupDescription:
        request = DescribeGroupsRequest(groups=[group_id])

        def attempt() -> GroupDescription:
            coordinator = coordinator_of(self._router, CoordinatorType.GROUP, group_id)
            answer = self._router.broker(coordinator).request(request, DescribeGroupsResponse)
            (group,) = answer.groups
            check(group.error_code, f"group {group_id}")
            return _description(group, coordinator)

        return self._router.with_retries(attempt)

    def delete(self, group_id: str) -> None:
        """With its offsets. Raises BrokerError where it has members or is not there."""
        request = DeleteGroupsRequest(groups_names=[group_id])

        def attempt() -> None:
            coordinator = group_coordinator(self._router, group_id)
            for result in coordinator.request(request, DeleteGroupsResponse).results:
                check(result.error_code, f"group {group_id}", final=(ErrorCode.NON_EMPTY_GROUP,))

        self._router.with_retries(attempt)

    def remove_members(self, group_id: str) -> None:
        """All that it has now; one that lives on joins again. Raises BrokerError."""
        members = [
            MemberIdentity(member_id=each.member_id, group_instance_id=each.instance_id)
            for each in self.describe(group_id).members
        ]
        request = LeaveGroupRequest(group_id=group_id, members=members)

        def attempt() -> None:
            answer = group_coordinator(self._router, group_id).request(request, LeaveGroupResponse)
            check(answer.error_code, f"members of group {group_id}")

        self._router.with_retries(attempt)


def _description(group: DescribedGroup, coordinator: int) -> GroupDescription:
    consume = group.protocol_type == CONSUMERS
    members = [_member(member, consumes=consume) for member in group.members]
    return GroupDescription(
        group.group_id,
        group.group_state,
        group.protocol_type,
        group.protocol_data,
        coordinator,
        tuple(sorted(members, key=lambda member: (member.client_id, member.member_id))),
    )


def _member(member: DescribedGroupMember, *, consumes: bool) -> GroupMember:
    return GroupMember(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        decode_assignment(member.member_assignment) if consumes else (),
    )
