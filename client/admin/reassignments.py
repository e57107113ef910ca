"""Leader elections, and moving replicas between brokers (KIP-183, KIP-455, KIP-460)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from logquake.client.admin.asking.asks import CONTROLLER, Ask, Asks, Reply, Terms
from logquake.client.admin.asking.refusals import by_controller, refusal
from logquake.client.admin.asking.results import Results
from logquake.client.consumer.assignors.subscriptions import by_topic
from logquake.client.errors import ClientError, UnsupportedVersionError
from logquake.wire.messages.reassignment import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
    ReassignablePartition,
    ReassignableTopic,
    TopicPartitions,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

_UNCLEAN_SINCE = 1  # KIP-460


class ElectionType(IntEnum):
    """UNCLEAN elects a replica outside the ISR if there is no other; what it lacks is lost."""

    PREFERRED = 0
    UNCLEAN = 1


def elect_leaders(
    election_type: ElectionType,
    partitions: Collection[TopicPartition] | None,
    results: Results[None, Mapping[TopicPartition, ClientError | None]],
) -> Asks:
    """None means all partitions; the result omits those that needed no election."""

    def request(terms: Terms) -> Message:
        if terms.version < _UNCLEAN_SINCE and election_type is not ElectionType.PREFERRED:
            raise UnsupportedVersionError("the broker elects preferred leaders alone (KIP-460)")
        return ElectLeadersRequest(
            election_type=election_type,
            topic_partitions=None if partitions is None else _named(partitions),
            timeout_ms=terms.timeout_ms,
        )

    reply: Reply[ElectLeadersResponse] = yield Ask(
        CONTROLLER, ElectLeadersResponse, request, by_controller
    )
    error = refusal(reply.message.error_code, "the election")
    results.settle(None, error or dict(_elected(reply.message)))


def _named(partitions: Collection[TopicPartition]) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic=topic, partitions=indexes)
        for topic, indexes in by_topic(partitions).items()
    ]


def _elected(answer: ElectLeadersResponse) -> Iterator[tuple[TopicPartition, ClientError | None]]:
    for topic in answer.replica_election_results:
        for told in topic.partition_result:
            place = TopicPartition(topic.topic, told.partition_id)
            yield place, refusal(told.error_code, f"the leader of {place}", told.error_message)


# Moving them


@dataclass(frozen=True, slots=True)
class PartitionReassignment:
    """``replicas`` includes the old and the new ones."""

    replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    removing_replicas: tuple[int, ...]


def alter_partition_reassignments(
    targets: Mapping[TopicPartition, Sequence[int] | None],
    results: Results[TopicPartition, None],
) -> Asks:
    """Move to those replicas; None cancels a move in progress."""
    topics = [
        ReassignableTopic(
            name=topic,
            partitions=[
                _reassignable(index, targets[TopicPartition(topic, index)])
                for index in sorted(indexes)
            ],
        )
        for topic, indexes in sorted(by_topic(targets).items())
    ]
    reply: Reply[AlterPartitionReassignmentsResponse] = yield Ask(
        CONTROLLER,
        AlterPartitionReassignmentsResponse,
        lambda terms: AlterPartitionReassignmentsRequest(
            topics=topics, timeout_ms=terms.timeout_ms
        ),
        by_controller,
    )
    answer = reply.message
    whole = refusal(answer.error_code, "the reassignments", answer.error_message)
    for place, error in _reassigned(answer):
        results.settle(place, whole or error)
    if whole:
        results.fail_rest(whole)


def _reassignable(index: int, replicas: Sequence[int] | None) -> ReassignablePartition:
    wanted = None if replicas is None else list(replicas)
    return ReassignablePartition(partition_index=index, replicas=wanted)


def _reassigned(
    answer: AlterPartitionReassignmentsResponse,
) -> Iterator[tuple[TopicPartition, ClientError | None]]:
    for topic in answer.responses:
        for told in topic.partitions:
            place = TopicPartition(topic.name, told.partition_index)
            yield place, refusal(told.error_code, f"moving {place}", told.error_message)


def list_partition_reassignments(
    partitions: Collection[TopicPartition] | None,
    results: Results[None, Mapping[TopicPartition, PartitionReassignment]],
) -> Asks:
    """The moves in progress among these partitions; None means all."""
    topics = (
        partitions
        if partitions is None
        else [
            ListPartitionReassignmentsTopics(name=topic, partition_indexes=indexes)
            for topic, indexes in by_topic(partitions).items()
        ]
    )
    reply: Reply[ListPartitionReassignmentsResponse] = yield Ask(
        CONTROLLER,
        ListPartitionReassignmentsResponse,
        lambda terms: ListPartitionReassignmentsRequest(topics=topics, timeout_ms=terms.timeout_ms),
        by_controller,
    )
    answer = reply.message
    error = refusal(answer.error_code, "the reassignments", answer.error_message)
    results.settle(None, error or _under_way(answer))


def _under_way(
    answer: ListPartitionReassignmentsResponse,
) -> dict[TopicPartition, PartitionReassignment]:
    return {
        TopicPartition(topic.name, each.partition_index): PartitionReassignment(
            tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas)
        )
        for topic in answer.topics
        for each in topic.partitions
    }
