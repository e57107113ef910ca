"""Refused: what the controller tells brokers (AbstractControlRequest)."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
    LeaderAndIsrTopicState,
)
from logquake.wire.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from logquake.wire.refusals.refusal import Refusal, RefusalTable

_FIRST_LEADER_AND_ISR_BY_ID = 5


def _leader_and_isr(body: LeaderAndIsrRequest, version: int, why: Refusal) -> LeaderAndIsrResponse:
    if version < _FIRST_LEADER_AND_ISR_BY_ID:
        errors = [
            LeaderAndIsrPartitionError(
                topic_name=topic, partition_index=index, error_code=why.error
            )
            for topic, index in _led(body)
        ]
        return LeaderAndIsrResponse(error_code=why.error, partition_errors=errors)

    def refuse(topic: LeaderAndIsrTopicState) -> LeaderAndIsrTopicError:
        errors = [
            LeaderAndIsrPartitionError(partition_index=each.partition_index, error_code=why.error)
            for each in topic.partition_states
        ]
        return LeaderAndIsrTopicError(topic_id=topic.topic_id, partition_errors=errors)

    return LeaderAndIsrResponse(
        error_code=why.error, topics=[refuse(topic) for topic in body.topic_states]
    )


def _led(body: LeaderAndIsrRequest) -> Iterator[tuple[str, int]]:
    """Versions 0 and 1 have one list of all, later ones one a topic."""
    for state in body.ungrouped_partition_states:
        yield state.topic_name, state.partition_index
    for topic in body.topic_states:
        for each in topic.partition_states:
            yield topic.topic_name, each.partition_index


def _stop_replica(body: StopReplicaRequest, _version: int, why: Refusal) -> StopReplicaResponse:
    errors = [
        StopReplicaPartitionError(topic_name=topic, partition_index=index, error_code=why.error)
        for topic, index in _stopped(body)
    ]
    return StopReplicaResponse(error_code=why.error, partition_errors=errors)


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


REFUSALS: RefusalTable = {
    LeaderAndIsrRequest: _leader_and_isr,
    StopReplicaRequest: _stop_replica,
}
