"""OffsetCommit and OffsetFetch: requests by version, and what their answers mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from logquake.client.consumer.assignors.subscriptions import by_topic
from logquake.client.consumer.group.generation import Generation
from logquake.client.consumer.group.listener import Offsets
from logquake.client.consumer.group.unsent import Done, Question
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
)
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

_FIRST_COMMIT_TO_KAFKA = 1  # 0 goes to ZooKeeper
_FIRST_COMMIT_WITH_INSTANCE_ID = 7
_FIRST_FETCH_FROM_KAFKA = 1  # 0 reads ZooKeeper
_FIRST_STABLE = 7  # KIP-447
_FIRST_OF_SEVERAL_GROUPS = 8  # KIP-709


class Failed(NamedTuple):
    code: ErrorCode
    what: str


# OffsetCommit


def commit(
    group_id: str, instance_id: str | None, generation: Generation, offsets: Offsets, done: Done
) -> Question:
    """``instance_id`` is that of a static member."""
    message = OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=generation.id,
        member_id=generation.member_id,
        group_instance_id=instance_id,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    _commit_of(partition, offsets[TopicPartition(topic, partition)])
                    for partition in partitions
                ],
            )
            for topic, partitions in by_topic(sorted(offsets)).items()
        ],
    )
    at_least = _FIRST_COMMIT_WITH_INSTANCE_ID if instance_id else _FIRST_COMMIT_TO_KAFKA
    return Question(
        OffsetCommitRequest, OffsetCommitResponse, lambda _: message, done, at_least=at_least
    )


def _commit_of(partition: int, what: OffsetAndMetadata) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=partition,
        committed_offset=what.offset,
        committed_leader_epoch=what.leader_epoch,
        committed_metadata=what.metadata,
    )


def first_failure(answer: OffsetCommitResponse) -> Failed | None:
    """Other errors come first, then authorization errors, listing all denied topics. An unknown
    topic comes last, since another partition's error may be worth a retry.
    """
    denied: set[str] = set()
    unknown: Failed | None = None
    for topic in answer.topics:
        for partition in topic.partitions:
            code = ErrorCode.of_peer(partition.error_code)
            if code is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                denied.add(topic.name)
            elif code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                unknown = unknown or Failed(code, f"{topic.name}-{partition.partition_index}")
            elif code is not ErrorCode.NONE:
                return Failed(code, f"{topic.name}-{partition.partition_index}")
    if denied:
        return Failed(ErrorCode.TOPIC_AUTHORIZATION_FAILED, ", ".join(sorted(denied)))
    return unknown


def is_about(answer: OffsetCommitResponse, offsets: Offsets) -> bool:
    """Whether the response covers all committed offsets."""
    told = {
        TopicPartition(topic.name, partition.partition_index)
        for topic in answer.topics
        for partition in topic.partitions
    }
    return told >= offsets.keys()


# OffsetFetch


def fetch(group_id: str, places: Collection[TopicPartition], done: Done) -> Question:
    """Without offsets of open transactions, if the broker supports that (KIP-447)."""
    build = partial(_fetch, group_id, places)
    return Question(
        OffsetFetchRequest, OffsetFetchResponse, build, done, at_least=_FIRST_FETCH_FROM_KAFKA
    )


def _fetch(group_id: str, places: Collection[TopicPartition], version: int) -> OffsetFetchRequest:
    topics = by_topic(sorted(places)).items()
    is_stable = version >= _FIRST_STABLE
    if version < _FIRST_OF_SEVERAL_GROUPS:
        named = [OffsetFetchRequestTopic(name=name, partition_indexes=of) for name, of in topics]
        return OffsetFetchRequest(group_id=group_id, topics=named, require_stable=is_stable)
    grouped = [OffsetFetchRequestTopics(name=name, partition_indexes=of) for name, of in topics]
    group = OffsetFetchRequestGroup(group_id=group_id, topics=grouped)
    return OffsetFetchRequest(groups=[group], require_stable=is_stable)


def fetch_error(answer: OffsetFetchResponse, group_id: str) -> ErrorCode:
    """The error for the whole group."""
    codes = [answer.error_code, *(group.error_code for group in _groups(answer, group_id))]
    return ErrorCode.of_peer(next((code for code in codes if code != ErrorCode.NONE), 0))


def first_unfetched(answer: OffsetFetchResponse, group_id: str) -> Failed | None:
    """Other errors come first, then all denied topics, then offsets that are not stable yet."""
    denied: set[str] = set()
    unstable: list[str] = []
    for place, told in _parts(answer, group_id):
        code = ErrorCode.of_peer(told.error_code)
        if code is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            denied.add(place.topic)
        elif code is ErrorCode.UNSTABLE_OFFSET_COMMIT:
            unstable.append(str(place))
        elif code is not ErrorCode.NONE:
            return Failed(code, str(place))
    if denied:
        return Failed(ErrorCode.TOPIC_AUTHORIZATION_FAILED, ", ".join(sorted(denied)))
    if unstable:
        return Failed(ErrorCode.UNSTABLE_OFFSET_COMMIT, ", ".join(unstable))
    return None


def fetched(
    answer: OffsetFetchResponse, group_id: str
) -> dict[TopicPartition, OffsetAndMetadata | None]:
    """None for partitions without a committed offset."""
    return {
        place: None
        if told.committed_offset <= UNKNOWN_OFFSET
        else OffsetAndMetadata(
            told.committed_offset, told.committed_leader_epoch, told.metadata or ""
        )
        for place, told in _parts(answer, group_id)
    }


def _groups(answer: OffsetFetchResponse, group_id: str) -> Iterator[OffsetFetchResponseGroup]:
    """The requested group, in versions that name groups (OffsetFetchResponse)."""
    return (group for group in answer.groups if group.group_id == group_id)


def _parts(
    answer: OffsetFetchResponse, group_id: str
) -> Iterator[tuple[TopicPartition, OffsetFetchResponsePartition | OffsetFetchResponsePartitions]]:
    for topic in answer.topics:
        yield from _placed(topic.name, topic.partitions)
    for group in _groups(answer, group_id):
        for each in group.topics:
            yield from _placed(each.name, each.partitions)


def _placed(
    topic: str, parts: Iterable[OffsetFetchResponsePartition | OffsetFetchResponsePartitions]
) -> Iterator[tuple[TopicPartition, OffsetFetchResponsePartition | OffsetFetchResponsePartitions]]:
    for part in parts:
        yield TopicPartition(topic, part.partition_index), part
