"""The answer to a request that is refused as a whole: getErrorResponse of Kafka's request classes.

Most say it in one error code. Those below say it of everything that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from logquake.wire.api import response_type
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from logquake.wire.messages.group_membership import JoinGroupRequest, JoinGroupResponse
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from logquake.wire.messages.log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from logquake.wire.messages.reassignment import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from logquake.wire.messages.scram import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from logquake.wire.messages.transaction_commit import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from logquake.wire.schema import Message

_FIRST_LEADER_AND_ISR_BY_ID = 5
_FIRST_JOIN_WITHOUT_PROTOCOL = 7
_FIRST_ELECTION_WITH_ERROR = 1


def refused(key: int, version: int, body: Message, error: ErrorCode, message: str) -> Message:
    """``message`` is told where the answer has room for one."""
    special = _SPECIAL.get(type(body))
    if special is not None:
        return special(version, body, error, message)
    answer_type: Any = response_type(key)
    answer = answer_type(error_code=error)
    if "error_message" in answer.__schema__.fields:
        answer.error_message = message
    return cast(Message, answer)


def _leader_and_isr(
    version: int, body: LeaderAndIsrRequest, error: ErrorCode, _message: str
) -> LeaderAndIsrResponse:
    if version < _FIRST_LEADER_AND_ISR_BY_ID:
        states = [*body.ungrouped_partition_states]
        named = [(state.topic_name, state.partition_index) for state in states]
        named += [
            (topic.topic_name, state.partition_index)
            for topic in body.topic_states
            for state in topic.partition_states
        ]
        errors = [
            LeaderAndIsrPartitionError(topic_name=topic, partition_index=index, error_code=error)
            for topic, index in named
        ]
        return LeaderAndIsrResponse(error_code=error, partition_errors=errors)
    topics = [
        LeaderAndIsrTopicError(
            topic_id=topic.topic_id,
            partition_errors=[
                LeaderAndIsrPartitionError(partition_index=state.partition_index, error_code=error)
                for state in topic.partition_states
            ],
        )
        for topic in body.topic_states
    ]
    return LeaderAndIsrResponse(error_code=error, topics=topics)


def _stop_replica(
    _version: int, body: StopReplicaRequest, error: ErrorCode, _message: str
) -> StopReplicaResponse:
    errors = [
        StopReplicaPartitionError(topic_name=topic, partition_index=index, error_code=error)
        for topic, index in _stopped(body)
    ]
    return StopReplicaResponse(error_code=error, partition_errors=errors)


def _stopped(body: StopReplicaRequest) -> Iterator[tuple[str, int]]:
    """Each version has another of the three lists."""
    for old in body.ungrouped_partitions:
        yield old.topic_name, old.partition_index
    for topic in body.topics:
        for index in topic.partition_indexes:
            yield topic.name, index
    for state in body.topic_states:
        for partition in state.partition_states:
            yield state.topic_name, partition.partition_index


def _alter_replica_log_dirs(
    _version: int, body: AlterReplicaLogDirsRequest, error: ErrorCode, _message: str
) -> AlterReplicaLogDirsResponse:
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=topic.name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error)
                    for index in topic.partitions
                ],
            )
            for directory in body.dirs
            for topic in directory.topics
        ]
    )


def _elect_leaders(
    version: int, body: ElectLeadersRequest, error: ErrorCode, _message: str
) -> ElectLeadersResponse:
    results = [
        ReplicaElectionResult(
            topic=topic.topic,
            partition_result=[
                PartitionResult(partition_id=index, error_code=error, error_message=None)
                for index in topic.partitions
            ],
        )
        for topic in body.topic_partitions or ()
    ]
    answer = ElectLeadersResponse(replica_election_results=results)
    if version >= _FIRST_ELECTION_WITH_ERROR:
        answer.error_code = error
    return answer


def _join_group(
    version: int, _body: JoinGroupRequest, error: ErrorCode, _message: str
) -> JoinGroupResponse:
    name = None if version >= _FIRST_JOIN_WITHOUT_PROTOCOL else ""
    return JoinGroupResponse(error_code=error, protocol_name=name)


def _offset_commit(
    _version: int, body: OffsetCommitRequest, error: ErrorCode, _message: str
) -> OffsetCommitResponse:
    topics = [
        OffsetCommitResponseTopic(
            name=topic.name,
            partitions=[
                OffsetCommitResponsePartition(
                    partition_index=each.partition_index, error_code=error
                )
                for each in topic.partitions
            ],
        )
        for topic in body.topics
    ]
    return OffsetCommitResponse(topics=topics)


def _describe_scram_users(
    _version: int, _body: DescribeUserScramCredentialsRequest, error: ErrorCode, _message: str
) -> DescribeUserScramCredentialsResponse:
    """Of nobody, as Kafka has it."""
    result = DescribeUserScramCredentialsResult(error_code=error, error_message=None)
    return DescribeUserScramCredentialsResponse(
        error_code=error, error_message=None, results=[result]
    )


def _create_acls(
    _version: int, body: CreateAclsRequest, error: ErrorCode, message: str
) -> CreateAclsResponse:
    result = AclCreationResult(error_code=error, error_message=message)
    return CreateAclsResponse(results=[result for _ in body.creations])


def _delete_acls(
    _version: int, body: DeleteAclsRequest, error: ErrorCode, message: str
) -> DeleteAclsResponse:
    result = DeleteAclsFilterResult(error_code=error, error_message=message)
    return DeleteAclsResponse(filter_results=[result for _ in body.filters])


def _write_txn_markers(
    _version: int, body: WriteTxnMarkersRequest, error: ErrorCode, _message: str
) -> WriteTxnMarkersResponse:
    def refuse(topic: WritableTxnMarkerTopic) -> WritableTxnMarkerTopicResult:
        partitions = [
            WritableTxnMarkerPartitionResult(partition_index=index, error_code=error)
            for index in topic.partition_indexes
        ]
        return WritableTxnMarkerTopicResult(name=topic.name, partitions=partitions)

    markers = [
        WritableTxnMarkerResult(
            producer_id=marker.producer_id, topics=[refuse(topic) for topic in marker.topics]
        )
        for marker in body.markers
    ]
    return WriteTxnMarkersResponse(markers=markers)


_SPECIAL: dict[type[Message], Callable[[int, Any, ErrorCode, str], Message]] = {
    LeaderAndIsrRequest: _leader_and_isr,
    StopReplicaRequest: _stop_replica,
    AlterReplicaLogDirsRequest: _alter_replica_log_dirs,
    WriteTxnMarkersRequest: _write_txn_markers,
    ElectLeadersRequest: _elect_leaders,
    JoinGroupRequest: _join_group,
    OffsetCommitRequest: _offset_commit,
    DescribeUserScramCredentialsRequest: _describe_scram_users,
    CreateAclsRequest: _create_acls,
    DeleteAclsRequest: _delete_acls,
}
