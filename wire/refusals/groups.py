"""Refused: what members, and who looks after groups, ask of coordinators."""

from __future__ import annotations

from logquake.wire.messages.consumer_group import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from logquake.wire.messages.consumer_group import DescribedGroup as DescribedConsumerGroup
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.group_admin import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from logquake.wire.messages.group_membership import JoinGroupRequest, JoinGroupResponse
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from logquake.wire.refusals.refusal import Refusal, RefusalTable
from logquake.wire.sentinels import UNKNOWN_OFFSET

_FIRST_SEARCH_OF_SEVERAL = 4
_FIRST_JOIN_WITHOUT_PROTOCOL = 7
_FIRST_OFFSETS_WITH_ERROR = 2
_FIRST_OFFSETS_BY_GROUP = 8
_NO_NODE, _NO_HOST, _NO_PORT = -1, "", -1  # Node.noNode()


def _find_coordinator(
    body: FindCoordinatorRequest, version: int, why: Refusal
) -> FindCoordinatorResponse:
    if version < _FIRST_SEARCH_OF_SEVERAL:
        return FindCoordinatorResponse(
            error_code=why.error,
            error_message=why.message,
            node_id=_NO_NODE,
            host=_NO_HOST,
            port=_NO_PORT,
        )
    coordinators = [
        Coordinator(
            key=key,
            node_id=_NO_NODE,
            host=_NO_HOST,
            port=_NO_PORT,
            error_code=why.error,
            error_message=why.message,
        )
        for key in body.coordinator_keys
    ]
    return FindCoordinatorResponse(coordinators=coordinators)


def _join_group(_body: JoinGroupRequest, version: int, why: Refusal) -> JoinGroupResponse:
    name = None if version >= _FIRST_JOIN_WITHOUT_PROTOCOL else ""
    return JoinGroupResponse(error_code=why.error, protocol_name=name)


def _offset_commit(body: OffsetCommitRequest, _version: int, why: Refusal) -> OffsetCommitResponse:
    topics = [
        OffsetCommitResponseTopic(
            name=topic.name,
            partitions=[
                OffsetCommitResponsePartition(
                    partition_index=each.partition_index, error_code=why.error
                )
                for each in topic.partitions
            ],
        )
        for topic in body.topics
    ]
    return OffsetCommitResponse(topics=topics)


def _offset_fetch(body: OffsetFetchRequest, version: int, why: Refusal) -> OffsetFetchResponse:
    """Of each partition, then of the whole, then of each group: as versions had room for it."""
    if version >= _FIRST_OFFSETS_BY_GROUP:
        groups = [
            OffsetFetchResponseGroup(group_id=each.group_id, error_code=why.error)
            for each in body.groups
        ]
        return OffsetFetchResponse(groups=groups)
    if version >= _FIRST_OFFSETS_WITH_ERROR:
        return OffsetFetchResponse(error_code=why.error)
    return OffsetFetchResponse(topics=[_offsets_of(topic, why) for topic in body.topics or ()])


def _offsets_of(topic: OffsetFetchRequestTopic, why: Refusal) -> OffsetFetchResponseTopic:
    partitions = [
        OffsetFetchResponsePartition(
            partition_index=index,
            committed_offset=UNKNOWN_OFFSET,
            metadata="",
            error_code=why.error,
        )
        for index in topic.partition_indexes
    ]
    return OffsetFetchResponseTopic(name=topic.name, partitions=partitions)


def _describe_groups(
    body: DescribeGroupsRequest, _version: int, why: Refusal
) -> DescribeGroupsResponse:
    groups = [DescribedGroup(error_code=why.error, group_id=each) for each in body.groups]
    return DescribeGroupsResponse(groups=groups)


def _describe_consumer_groups(
    body: ConsumerGroupDescribeRequest, _version: int, why: Refusal
) -> ConsumerGroupDescribeResponse:
    groups = [
        DescribedConsumerGroup(error_code=why.error, group_id=each) for each in body.group_ids
    ]
    return ConsumerGroupDescribeResponse(groups=groups)


def _consumer_group_heartbeat(
    _body: ConsumerGroupHeartbeatRequest, _version: int, why: Refusal
) -> ConsumerGroupHeartbeatResponse:
    """Without the text that there would be room for."""
    return ConsumerGroupHeartbeatResponse(error_code=why.error)


def _delete_groups(body: DeleteGroupsRequest, _version: int, why: Refusal) -> DeleteGroupsResponse:
    results = [
        DeletableGroupResult(group_id=each, error_code=why.error) for each in body.groups_names
    ]
    return DeleteGroupsResponse(results=results)


REFUSALS: RefusalTable = {
    FindCoordinatorRequest: _find_coordinator,
    JoinGroupRequest: _join_group,
    OffsetCommitRequest: _offset_commit,
    OffsetFetchRequest: _offset_fetch,
    DescribeGroupsRequest: _describe_groups,
    ConsumerGroupDescribeRequest: _describe_consumer_groups,
    ConsumerGroupHeartbeatRequest: _consumer_group_heartbeat,
    DeleteGroupsRequest: _delete_groups,
}
