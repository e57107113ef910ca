"""Descriptions of consumer groups (DescribeConsumerGroupsHandler)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from logquake.client.admin.asking.asks import Ask, Broker, fixed
from logquake.client.admin.asking.coordinators import Coordinators
from logquake.client.admin.asking.keyed import Answered, Outcome
from logquake.client.admin.groups import sort_out
from logquake.client.admin.operations import Operations, operations_of
from logquake.client.consumer.assignors.subscriptions import CONSUMERS, decode_assignment, places
from logquake.client.errors import (
    ClientError,
    MalformedResponseError,
    NotConsumerGroupError,
    UnsupportedVersionError,
)
from logquake.client.network.effects import Node
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.consumer_group import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedAssignment,
    Member,
)
from logquake.wire.messages.consumer_group import DescribedGroup as DescribedConsumerGroup
from logquake.wire.messages.group_admin import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

CLASSIC = "Classic"  # GroupType
CONSUMER = "Consumer"  # of KIP-848
_NOT_OF_KIP_848 = (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.GROUP_ID_NOT_FOUND)


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """``target`` is the future assignment, only in groups of KIP-848."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    assignment: frozenset[TopicPartition]
    target: frozenset[TopicPartition] | None = None


@dataclass(frozen=True, slots=True)
class ConsumerGroupDescription:
    """``state`` is spelt like Kafka's; an unknown group is Dead.

    ``partition_assignor`` is "" between two generations, and ``authorized_operations`` None if
    not requested.
    """

    group_id: str
    is_simple_consumer_group: bool
    members: tuple[MemberDescription, ...]
    partition_assignor: str
    type: str
    state: str
    coordinator: Node
    authorized_operations: Operations


class DescribeConsumerGroups:
    """First requested as groups of KIP-848; any that are not, as classic groups."""

    name = "describeConsumerGroups"

    def __init__(self, *, include_authorized_operations: bool) -> None:
        self.lookup = Coordinators(CoordinatorType.GROUP)
        self._include_authorized_operations = include_authorized_operations
        self._classic: set[str] = set()

    def asks(self, broker_id: int, keys: list[str]) -> Iterator[tuple[Ask[Message], list[str]]]:
        classic = [key for key in keys if key in self._classic]
        others = [key for key in keys if key not in self._classic]
        if others:
            request = ConsumerGroupDescribeRequest(
                group_ids=others,
                include_authorized_operations=self._include_authorized_operations,
            )
            yield Ask(Broker(broker_id), ConsumerGroupDescribeResponse, fixed(request)), others
        if classic:
            old = DescribeGroupsRequest(
                groups=classic,
                include_authorized_operations=self._include_authorized_operations,
            )
            yield Ask(Broker(broker_id), DescribeGroupsResponse, fixed(old)), classic

    def outcome(
        self, reply: Answered[DescribeGroupsResponse | ConsumerGroupDescribeResponse, str]
    ) -> Outcome[str, ConsumerGroupDescription]:
        answer = reply.answer
        outcome: Outcome[str, ConsumerGroupDescription] = Outcome()
        if isinstance(answer, DescribeGroupsResponse):
            for classic in answer.groups:
                _take_classic(outcome, classic, reply.node)
        else:
            for group in answer.groups:
                self._take(outcome, group, reply.node)
        return outcome

    def _take(
        self,
        outcome: Outcome[str, ConsumerGroupDescription],
        group: DescribedConsumerGroup,
        node: Node,
    ) -> None:
        code = ErrorCode.of_peer(group.error_code)
        if code is ErrorCode.NONE:
            outcome.completed[group.group_id] = _described(group, node)
        elif code in _NOT_OF_KIP_848:
            self._classic.add(group.group_id)
        else:
            sort_out(outcome, group.group_id, group.error_code, group.error_message)

    def unsupported(
        self, keys: list[str], error: UnsupportedVersionError
    ) -> dict[str, ClientError]:
        lost = [key for key in keys if key in self._classic]
        self._classic.update(keys)
        return dict.fromkeys(lost, error)


def _described(group: DescribedConsumerGroup, node: Node) -> ConsumerGroupDescription:
    return ConsumerGroupDescription(
        group.group_id,
        False,
        tuple(map(_member, group.members)),
        group.assignor_name,
        CONSUMER,
        group.group_state,
        node,
        operations_of(group.authorized_operations),
    )


def _member(member: Member) -> MemberDescription:
    return MemberDescription(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        _assigned(member.assignment),
        _assigned(member.target_assignment),
    )


def _assigned(told: DescribedAssignment) -> frozenset[TopicPartition]:
    return frozenset(places((each.topic_name, each.partitions) for each in told.topic_partitions))


def _take_classic(
    outcome: Outcome[str, ConsumerGroupDescription], group: DescribedGroup, node: Node
) -> None:
    group_id = group.group_id
    if group.error_code != ErrorCode.NONE:
        sort_out(outcome, group_id, group.error_code, None)
    elif group.protocol_type not in ("", CONSUMERS):
        outcome.failed[group_id] = NotConsumerGroupError(
            f"group {group_id} is not of consumers, but of type {group.protocol_type}"
        )
    else:
        try:
            outcome.completed[group_id] = _described_classic(group, node)
        except MalformedResponseError as error:
            outcome.failed[group_id] = error


def _described_classic(group: DescribedGroup, node: Node) -> ConsumerGroupDescription:
    return ConsumerGroupDescription(
        group.group_id,
        not group.protocol_type,
        tuple(map(_classic_member, group.members)),
        group.protocol_data,
        CLASSIC,
        group.group_state,
        node,
        operations_of(group.authorized_operations),
    )


def _classic_member(member: DescribedGroupMember) -> MemberDescription:
    return MemberDescription(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        frozenset(decode_assignment(member.member_assignment)),
    )
