"""Committed offsets of groups: listed, altered and deleted by way of their coordinators.

The handlers of calls by group: ListConsumerGroupOffsetsHandler, AlterConsumerGroupOffsetsHandler
and DeleteConsumerGroupOffsetsHandler.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from logquake.client.admin.asking.asks import Ask, Broker, Terms, fixed
from logquake.client.admin.asking.coordinators import Coordinators
from logquake.client.admin.asking.keyed import Answered, Outcome
from logquake.client.admin.asking.refusals import refusal
from logquake.client.admin.groups import sort_out
from logquake.client.consumer.assignors.subscriptions import by_topic
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.errors import ClientError, UnsupportedVersionError
from logquake.client.network.coordinator_lookups import COORDINATOR_MOVED
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponseTopic,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponseTopic,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

_STABLE_SINCE = 7  # KIP-447
_SEVERAL_GROUPS_SINCE = 8  # KIP-709
_ALL_PARTITIONS_SINCE = 2
_WAITS = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.REBALANCE_IN_PROGRESS)


Committed: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata | None]
"""None for a requested partition without a committed offset."""


class ListConsumerGroupOffsets:
    """The named partitions of each group; None means all.

    ``require_stable`` waits until no transaction can change them.
    """

    name = "offsetFetch"

    def __init__(
        self,
        wanted: Mapping[str, Collection[TopicPartition] | None],
        *,
        require_stable: bool,
    ) -> None:
        self.lookup = Coordinators(CoordinatorType.GROUP)
        self._wanted = wanted
        self._require_stable = require_stable
        self._takes_several = True

    def asks(self, broker_id: int, keys: list[str]) -> Iterator[tuple[Ask[Message], list[str]]]:
        together = [keys] if self._takes_several else [[key] for key in keys]
        for group_ids in together:
            yield self._ask(broker_id, group_ids), group_ids

    def _ask(self, broker_id: int, group_ids: list[str]) -> Ask[Message]:
        return Ask(
            Broker(broker_id), OffsetFetchResponse, lambda terms: self._request(group_ids, terms)
        )

    def _request(self, group_ids: list[str], terms: Terms) -> OffsetFetchRequest:
        if self._require_stable and terms.version < _STABLE_SINCE:
            raise UnsupportedVersionError("the broker tells of offsets that may change (KIP-447)")
        if terms.version >= _SEVERAL_GROUPS_SINCE:
            groups = [self._group(group_id) for group_id in group_ids]
            return OffsetFetchRequest(groups=groups, require_stable=self._require_stable)
        if len(group_ids) > 1:
            raise UnsupportedVersionError("the broker tells of one group at a time (KIP-709)")
        return self._old_request(group_ids[0], terms)

    def _group(self, group_id: str) -> OffsetFetchRequestGroup:
        wanted = self._wanted[group_id]
        topics = (
            None
            if wanted is None
            else [
                OffsetFetchRequestTopics(name=topic, partition_indexes=partitions)
                for topic, partitions in by_topic(wanted).items()
            ]
        )
        return OffsetFetchRequestGroup(group_id=group_id, topics=topics)

    def _old_request(self, group_id: str, terms: Terms) -> OffsetFetchRequest:
        wanted = self._wanted[group_id]
        if wanted is None and terms.version < _ALL_PARTITIONS_SINCE:
            raise UnsupportedVersionError("the broker has to be told of which partitions")
        topics = (
            None
            if wanted is None
            else [
                OffsetFetchRequestTopic(name=topic, partition_indexes=partitions)
                for topic, partitions in by_topic(wanted).items()
            ]
        )
        return OffsetFetchRequest(
            group_id=group_id, topics=topics, require_stable=self._require_stable
        )

    def outcome(self, reply: Answered[OffsetFetchResponse, str]) -> Outcome[str, Committed]:
        answer = reply.answer
        outcome: Outcome[str, Committed] = Outcome()
        for group in answer.groups or [_alone(reply.keys[0], answer)]:
            if group.error_code == ErrorCode.NONE:
                if not _is_undecided(group):
                    outcome.completed[group.group_id] = _committed(group)
            else:
                sort_out(outcome, group.group_id, group.error_code, None)
        return outcome

    def unsupported(
        self, keys: list[str], error: UnsupportedVersionError
    ) -> dict[str, ClientError]:
        if not self._takes_several or len(keys) == 1:
            return dict.fromkeys(keys, error)
        self._takes_several = False
        return {}


def _alone(group_id: str, answer: OffsetFetchResponse) -> OffsetFetchResponseGroup:
    """The response of brokers that accept only one group."""
    topics = [
        OffsetFetchResponseTopics(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartitions(
                    partition_index=each.partition_index,
                    committed_offset=each.committed_offset,
                    committed_leader_epoch=each.committed_leader_epoch,
                    metadata=each.metadata,
                    error_code=each.error_code,
                )
                for each in topic.partitions
            ],
        )
        for topic in answer.topics
    ]
    return OffsetFetchResponseGroup(group_id=group_id, topics=topics, error_code=answer.error_code)


def _is_undecided(group: OffsetFetchResponseGroup) -> bool:
    """Occurs only with ``require_stable``. Kafka's client omits such partitions, as if nothing were
    committed.
    """
    codes = (each.error_code for topic in group.topics for each in topic.partitions)
    return ErrorCode.UNSTABLE_OFFSET_COMMIT in codes


def _committed(group: OffsetFetchResponseGroup) -> Committed:
    """Partitions with an error are left out, as in Kafka's client."""
    return {
        TopicPartition(topic.name, each.partition_index): _offset(each)
        for topic in group.topics
        for each in topic.partitions
        if each.error_code == ErrorCode.NONE
    }


def _offset(told: OffsetFetchResponsePartitions) -> OffsetAndMetadata | None:
    if told.committed_offset < 0:
        return None
    return OffsetAndMetadata(
        told.committed_offset, told.committed_leader_epoch, told.metadata or ""
    )


PartitionErrors: TypeAlias = Mapping[TopicPartition, ClientError | None]


class AlterConsumerGroupOffsets:
    """For a group without members. The outcome is an error, or None, for each partition."""

    name = "offsetCommit"

    def __init__(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        self.lookup = Coordinators(CoordinatorType.GROUP)
        self._offsets = offsets

    def asks(self, broker_id: int, keys: list[str]) -> Iterator[tuple[Ask[Message], list[str]]]:
        (group_id,) = keys
        request = OffsetCommitRequest(
            group_id=group_id,
            topics=[
                OffsetCommitRequestTopic(
                    name=topic,
                    partitions=[self._commit(TopicPartition(topic, each)) for each in partitions],
                )
                for topic, partitions in by_topic(self._offsets).items()
            ],
        )
        yield Ask(Broker(broker_id), OffsetCommitResponse, fixed(request)), keys

    def _commit(self, place: TopicPartition) -> OffsetCommitRequestPartition:
        committed = self._offsets[place]
        return OffsetCommitRequestPartition(
            partition_index=place.partition,
            committed_offset=committed.offset,
            committed_leader_epoch=committed.leader_epoch,
            committed_metadata=committed.metadata,
        )

    def outcome(self, reply: Answered[OffsetCommitResponse, str]) -> Outcome[str, PartitionErrors]:
        """If one partition has to be retried, all are."""
        outcome: Outcome[str, PartitionErrors] = Outcome()
        (group_id,) = reply.keys
        codes = _codes(reply.answer.topics)
        known = {ErrorCode.of_peer(code) for code in codes.values()}
        if known.intersection(COORDINATOR_MOVED):
            outcome.moved.append(group_id)
        elif not known.intersection(_WAITS):
            outcome.completed[group_id] = _errors(codes)
        return outcome

    def unsupported(
        self, keys: list[str], error: UnsupportedVersionError
    ) -> dict[str, ClientError]:
        return dict.fromkeys(keys, error)


def _codes(
    topics: Iterable[OffsetCommitResponseTopic | OffsetDeleteResponseTopic],
) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.name, each.partition_index): each.error_code
        for topic in topics
        for each in topic.partitions
    }


def _errors(codes: Mapping[TopicPartition, int]) -> PartitionErrors:
    return {place: refusal(code, str(place)) for place, code in codes.items()}


class DeleteConsumerGroupOffsets:
    """For partitions without a subscriber. The outcome is an error, or None, for each."""

    name = "offsetDelete"

    def __init__(self, partitions: Collection[TopicPartition]) -> None:
        self.lookup = Coordinators(CoordinatorType.GROUP)
        self._partitions = partitions

    def asks(self, broker_id: int, keys: list[str]) -> Iterator[tuple[Ask[Message], list[str]]]:
        (group_id,) = keys
        request = OffsetDeleteRequest(
            group_id=group_id,
            topics=[
                OffsetDeleteRequestTopic(
                    name=topic,
                    partitions=[
                        OffsetDeleteRequestPartition(partition_index=each) for each in partitions
                    ],
                )
                for topic, partitions in by_topic(self._partitions).items()
            ],
        )
        yield Ask(Broker(broker_id), OffsetDeleteResponse, fixed(request)), keys

    def outcome(self, reply: Answered[OffsetDeleteResponse, str]) -> Outcome[str, PartitionErrors]:
        answer = reply.answer
        outcome: Outcome[str, PartitionErrors] = Outcome()
        (group_id,) = reply.keys
        if answer.error_code != ErrorCode.NONE:
            sort_out(outcome, group_id, answer.error_code, None)
            return outcome
        codes = _codes(answer.topics)
        outcome.completed[group_id] = _errors(codes)
        return outcome

    def unsupported(
        self, keys: list[str], error: UnsupportedVersionError
    ) -> dict[str, ClientError]:
        return dict.fromkeys(keys, error)
