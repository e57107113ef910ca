"""Groups, their offsets and how far they are, as an administrator asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.client.commits import Committer, commit_offsets, committed_offsets
from logquake.client.errors import BrokerError, MalformedResponseError
from logquake.client.groups import Groups
from logquake.client.routing import Router
from logquake.client.settings import Address
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.consumer_protocol import (
    AssignedTopicPartitions,
    ConsumerProtocolAssignment,
)
from logquake.wire.messages.find_coordinator import FindCoordinatorResponse
from logquake.wire.messages.group_admin import (
    DeletableGroupResult,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
    ListedGroup,
    ListGroupsResponse,
)
from logquake.wire.messages.group_offsets import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.versioned import encode_versioned
from tests.unit.client.cluster_in_memory import FakeNetwork


@pytest.fixture(autouse=True)
def coordinator(network: FakeNetwork) -> None:
    """Broker 2 coordinates all groups, after a moment in which nobody does."""
    codes = [ErrorCode.COORDINATOR_NOT_AVAILABLE]

    def find(_request: Any, _address: Any) -> FindCoordinatorResponse:
        code = codes.pop() if codes else ErrorCode.NONE
        return FindCoordinatorResponse(error_code=code, node_id=2, host="two", port=9092)

    network.handlers[ApiKey.FIND_COORDINATOR] = find


def described(assignment: bytes, state: str = "Stable") -> DescribeGroupsResponse:
    member = DescribedGroupMember(
        member_id="m-1",
        client_id="m",
        client_host="/127.0.0.1",
        member_metadata=b"",
        member_assignment=assignment,
    )
    group = DescribedGroup(
        error_code=0,
        group_id="g",
        group_state=state,
        protocol_type="consumer",
        protocol_data="range",
        members=[member],
    )
    return DescribeGroupsResponse(groups=[group])


def assignment(*partitions: int) -> bytes:
    given = AssignedTopicPartitions(topic="t", partitions=list(partitions))
    return encode_versioned(ConsumerProtocolAssignment(assigned_partitions=[given]), 3)


def committed(*offsets: tuple[str, int, int]) -> OffsetFetchResponse:
    topics = [
        OffsetFetchResponseTopic(
            name=topic,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=partition, committed_offset=offset, metadata="", error_code=0
                )
            ],
        )
        for topic, partition, offset in offsets
    ]
    return OffsetFetchResponse(topics=topics)


def commit_answer(code: ErrorCode) -> OffsetCommitResponse:
    partition = OffsetCommitResponsePartition(partition_index=0, error_code=code)
    return OffsetCommitResponse(
        topics=[OffsetCommitResponseTopic(name="t", partitions=[partition])]
    )


def test_every_broker_lists_the_groups_that_it_coordinates(
    router: Router, network: FakeNetwork
) -> None:
    def listed(_request: Any, address: Address) -> ListGroupsResponse:
        group = ListedGroup(
            group_id=f"group-{address.host}", protocol_type="consumer", group_state="Empty"
        )
        return ListGroupsResponse(error_code=0, groups=[group])

    network.handlers[ApiKey.LIST_GROUPS] = listed
    found = Groups(router).list_all()
    assert [(each.group_id, each.coordinator) for each in found] == [
        ("group-one", 1),
        ("group-two", 2),
    ]


def test_a_coordinator_describes_its_group_and_the_partitions_of_each_member(
    router: Router, network: FakeNetwork
) -> None:
    asked = []

    def describe(_request: Any, address: Address) -> DescribeGroupsResponse:
        asked.append(address.host)
        return described(assignment(1, 0))

    network.handlers[ApiKey.DESCRIBE_GROUPS] = describe
    group = Groups(router).describe("g")
    assert (asked, group.coordinator, group.is_active) == (["two"], 2, True)
    (member,) = group.members
    assert member.assigned == (TopicPartition("t", 0), TopicPartition("t", 1))


def test_a_member_between_two_generations_has_no_partitions(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.DESCRIBE_GROUPS] = lambda *_: described(b"", "PreparingRebalance")
    (member,) = Groups(router).describe("g").members
    assert member.assigned == ()


def test_an_assignment_that_makes_no_sense_is_told(router: Router, network: FakeNetwork) -> None:
    network.handlers[ApiKey.DESCRIBE_GROUPS] = lambda *_: described(b"\0\0\0\1")
    with pytest.raises(MalformedResponseError, match="an assignment that is none"):
        Groups(router).describe("g")


def test_a_group_that_has_members_is_not_waited_for_to_be_deleted(
    router: Router, network: FakeNetwork
) -> None:
    result = DeletableGroupResult(group_id="g", error_code=ErrorCode.NON_EMPTY_GROUP)
    network.handlers[ApiKey.DELETE_GROUPS] = lambda *_: DeleteGroupsResponse(results=[result])
    with pytest.raises(BrokerError, match="NON_EMPTY_GROUP: group g"):
        Groups(router).delete("g")
    assert len(network.requests[ApiKey.DELETE_GROUPS]) == 1


def test_partitions_without_a_commit_are_left_out(router: Router, network: FakeNetwork) -> None:
    network.handlers[ApiKey.OFFSET_FETCH] = lambda *_: committed(("t", 1, 7), ("t", 0, -1))
    assert committed_offsets(router, "g", require_stable=True) == {TopicPartition("t", 1): 7}
    (request,) = network.requests[ApiKey.OFFSET_FETCH]
    assert (request.group_id, request.topics, request.require_stable) == ("g", None, True)


def test_offsets_that_a_transaction_may_change_are_waited_for(
    router: Router, network: FakeNetwork
) -> None:
    unstable = OffsetFetchResponse(error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
    answers = [committed(("t", 0, 3)), unstable]
    network.handlers[ApiKey.OFFSET_FETCH] = lambda *_: answers.pop()
    assert committed_offsets(router, "g", require_stable=True) == {TopicPartition("t", 0): 3}


def test_who_is_no_member_commits_as_nobody_in_particular(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.OFFSET_COMMIT] = lambda *_: commit_answer(ErrorCode.NONE)
    commit_offsets(router, Committer("g"), {TopicPartition("t", 0): 5})
    (request,) = network.requests[ApiKey.OFFSET_COMMIT]
    assert (request.generation_id_or_member_epoch, request.member_id) == (-1, "")
    (partition,) = request.topics[0].partitions
    assert (partition.committed_offset, partition.committed_leader_epoch) == (5, -1)


@pytest.mark.parametrize(
    "code", [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
)
def test_a_refused_commit_is_told_at_once(
    router: Router, network: FakeNetwork, code: ErrorCode
) -> None:
    network.handlers[ApiKey.OFFSET_COMMIT] = lambda *_: commit_answer(code)
    with pytest.raises(BrokerError, match=f"{code.name}: commit of group g in t-0"):
        commit_offsets(router, Committer("g"), {TopicPartition("t", 0): 5})
    assert len(network.requests[ApiKey.OFFSET_COMMIT]) == 1
