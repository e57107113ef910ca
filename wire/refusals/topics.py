"""Refused: what is to become of topics and replicas."""

from __future__ import annotations

from logquake.wire.messages.log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from logquake.wire.messages.reassignment import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
    PartitionResult,
    ReassignablePartitionResponse,
    ReassignableTopic,
    ReassignableTopicResponse,
    ReplicaElectionResult,
)
from logquake.wire.messages.topics import (
    CreatableTopicResult,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from logquake.wire.refusals.refusal import Refusal, RefusalTable

_FIRST_DELETION_BY_ID = 6
_FIRST_ELECTION_WITH_ERROR = 1


def _create_topics(body: CreateTopicsRequest, _version: int, why: Refusal) -> CreateTopicsResponse:
    topics = [
        CreatableTopicResult(name=each.name, error_code=why.error, error_message=why.message)
        for each in body.topics
    ]
    return CreateTopicsResponse(topics=topics)


def _delete_topics(body: DeleteTopicsRequest, version: int, why: Refusal) -> DeleteTopicsResponse:
    if version < _FIRST_DELETION_BY_ID:
        named = [DeletableTopicResult(name=name, error_code=why.error) for name in body.topic_names]
        return DeleteTopicsResponse(responses=named)
    topics = [
        DeletableTopicResult(name=each.name, topic_id=each.topic_id, error_code=why.error)
        for each in body.topics
    ]
    return DeleteTopicsResponse(responses=topics)


def _create_partitions(
    body: CreatePartitionsRequest, _version: int, why: Refusal
) -> CreatePartitionsResponse:
    results = [
        CreatePartitionsTopicResult(name=each.name, error_code=why.error, error_message=why.message)
        for each in body.topics
    ]
    return CreatePartitionsResponse(results=results)


def _alter_reassignments(
    body: AlterPartitionReassignmentsRequest, _version: int, why: Refusal
) -> AlterPartitionReassignmentsResponse:
    def refuse(topic: ReassignableTopic) -> ReassignableTopicResponse:
        partitions = [
            ReassignablePartitionResponse(
                partition_index=each.partition_index,
                error_code=why.error,
                error_message=why.message,
            )
            for each in topic.partitions
        ]
        return ReassignableTopicResponse(name=topic.name, partitions=partitions)

    return AlterPartitionReassignmentsResponse(
        error_code=why.error,
        error_message=why.message,
        responses=[refuse(topic) for topic in body.topics],
    )


def _list_reassignments(
    body: ListPartitionReassignmentsRequest, _version: int, why: Refusal
) -> ListPartitionReassignmentsResponse:
    """What was asked for is named again, as if reassigned to nowhere: so does Kafka."""
    topics = [
        OngoingTopicReassignment(
            name=topic.name,
            partitions=[
                OngoingPartitionReassignment(partition_index=index)
                for index in topic.partition_indexes
            ],
        )
        for topic in body.topics or ()
    ]
    return ListPartitionReassignmentsResponse(
        error_code=why.error, error_message=why.message, topics=topics
    )


def _elect_leaders(body: ElectLeadersRequest, version: int, why: Refusal) -> ElectLeadersResponse:
    results = [
        ReplicaElectionResult(
            topic=topic.topic,
            partition_result=[
                PartitionResult(partition_id=index, error_code=why.error, error_message=why.message)
                for index in topic.partitions
            ],
        )
        for topic in body.topic_partitions or ()
    ]
    answer = ElectLeadersResponse(replica_election_results=results)
    if version >= _FIRST_ELECTION_WITH_ERROR:
        answer.error_code = why.error
    return answer


def _alter_replica_log_dirs(
    body: AlterReplicaLogDirsRequest, _version: int, why: Refusal
) -> AlterReplicaLogDirsResponse:
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=topic.name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=why.error)
                    for index in topic.partitions
                ],
            )
            for directory in body.dirs
            for topic in directory.topics
        ]
    )


REFUSALS: RefusalTable = {
    CreateTopicsRequest: _create_topics,
    DeleteTopicsRequest: _delete_topics,
    CreatePartitionsRequest: _create_partitions,
    AlterPartitionReassignmentsRequest: _alter_reassignments,
    ListPartitionReassignmentsRequest: _list_reassignments,
    ElectLeadersRequest: _elect_leaders,
    AlterReplicaLogDirsRequest: _alter_replica_log_dirs,
}
