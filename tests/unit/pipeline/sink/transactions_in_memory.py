"""Transactions in memory: what a coordinator decides, for one client after another or amid another.

Of what was committed it keeps the values by partition, and the offsets by group. Like Kafka's group
coordinator up to 3.9 it may take offsets over some questions after their transaction has ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from logquake.wire.messages.group_admin import ListedGroup, ListGroupsResponse
from logquake.wire.messages.group_offsets import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from logquake.wire.messages.transaction_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from logquake.wire.messages.transactions import (
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
    EndTxnResponse,
    InitProducerIdResponse,
)
from logquake.wire.records import iterate_records, read_header
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology, all_versions

_MUCH = 1 << 20


@dataclass
class Transaction:
    """Of one transactional id, whose present producer has this epoch."""

    producer_id: int
    epoch: int = -1
    partitions: set[TopicPartition] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    values: list[tuple[TopicPartition, list[bytes | None]]] = field(default_factory=list)
    commits: list[tuple[str, TopicPartition, OffsetAndMetadata]] = field(default_factory=list)
    sequences: set[tuple[TopicPartition, int]] = field(default_factory=set)
    ended: bool | None = None  # how the one before did; None: never, or another has begun

    def clear(self, ended: bool | None) -> None:
        for part in (self.partitions, self.groups, self.values, self.commits):
            part.clear()
        self.ended = ended

    @property
    def is_open(self) -> bool:
        return bool(self.partitions or self.groups)


@dataclass
class Undecided:
    """Offsets that a transaction has committed, and that are told so many questions later."""

    questions: int
    commits: list[tuple[str, TopicPartition, OffsetAndMetadata]]

    def may_change(self, group: str, place: TopicPartition) -> bool:
        return any((group, place) == (told_of, at) for told_of, at, _ in self.commits)


class TransactionsInMemory:
    def __init__(self, late_by: int = 0) -> None:
        """Offsets are taken over after so many more questions about any."""
        self.questions = 0  # about offsets
        self._late_by = late_by
        self._undecided: list[Undecided] = []
        self.values: dict[TopicPartition, list[bytes | None]] = defaultdict(list)
        self.commits: dict[str, dict[TopicPartition, OffsetAndMetadata]] = defaultdict(dict)
        self._producer_ids = count(100)
        self._by_name: dict[str, Transaction] = {}

    def network(self, before: Callable[[Callable[[], Any]], Any] | None = None) -> FakeNetwork:
        """Of one process more. ``before`` is handed each request, to carry it out."""
        network = FakeNetwork(FakeClock())
        network.handlers[ApiKey.API_VERSIONS] = lambda *_: all_versions()
        handlers = {
            ApiKey.METADATA: lambda request: FakeTopology().metadata(request, None),  # type: ignore[arg-type]
            ApiKey.FIND_COORDINATOR: _find_coordinator,
            ApiKey.INIT_PRODUCER_ID: self._init,
            ApiKey.ADD_PARTITIONS_TO_TXN: self._add_partitions,
            ApiKey.PRODUCE: self._produce,
            ApiKey.ADD_OFFSETS_TO_TXN: self._add_offsets,
            ApiKey.TXN_OFFSET_COMMIT: self._commit_offsets,
            ApiKey.END_TXN: self._end,
            ApiKey.OFFSET_FETCH: self._fetch_offsets,
            ApiKey.LIST_GROUPS: self._list_groups,
        }
        for key, handler in handlers.items():
            network.handlers[key] = _handled(handler, before)
        return network

    def open_ids(self) -> list[str]:
        return [name for name, found in self._by_name.items() if found.is_open]

    def _init(self, request: Any) -> InitProducerIdResponse:
        producer_id = next(self._producer_ids)
        found = self._by_name.setdefault(request.transactional_id, Transaction(producer_id))
        found.epoch += 1
        found.clear(None)
        found.sequences.clear()
        return InitProducerIdResponse(
            error_code=0, producer_id=found.producer_id, producer_epoch=found.epoch
        )

    def _add_partitions(self, request: Any) -> AddPartitionsToTxnResponse:
        code = self._code(
            request.v3_and_below_transactional_id, request.v3_and_below_producer_epoch
        )
        (topic,) = request.v3_and_below_topics
        if code == ErrorCode.NONE:
            found = self._by_name[request.v3_and_below_transactional_id]
            found.ended = None
            found.partitions |= {TopicPartition(topic.name, index) for index in topic.partitions}
        results = [
            AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
            for index in topic.partitions
        ]
        return AddPartitionsToTxnResponse(
            results_by_topic_v3_and_below=[
                AddPartitionsToTxnTopicResult(name=topic.name, results_by_partition=results)
            ]
        )

    def _produce(self, request: Any) -> ProduceResponse:
        (topic,) = request.topic_data
        (part,) = topic.partition_data
        place = TopicPartition(topic.name, part.index)
        header = read_header(part.records)
        code = self._code(request.transactional_id, header.producer_epoch)
        found = self._by_name[request.transactional_id]
        if code == ErrorCode.NONE and place not in found.partitions:
            code = ErrorCode.INVALID_TXN_STATE
        if code == ErrorCode.NONE and (place, header.base_sequence) not in found.sequences:
            found.sequences.add((place, header.base_sequence))
            records = iterate_records(part.records, 0, header, _MUCH)
            found.values.append((place, [record.value for record in records]))
        result = PartitionProduceResponse(index=place.partition, error_code=code, base_offset=0)
        return ProduceResponse(
            responses=[TopicProduceResponse(name=place.topic, partition_responses=[result])]
        )

    def _add_offsets(self, request: Any) -> AddOffsetsToTxnResponse:
        code = self._code(request.transactional_id, request.producer_epoch)
        if code == ErrorCode.NONE:
            self._by_name[request.transactional_id].groups.add(request.group_id)
        return AddOffsetsToTxnResponse(error_code=code)

    def _commit_offsets(self, request: Any) -> TxnOffsetCommitResponse:
        code = self._code(request.transactional_id, request.producer_epoch)
        (topic,) = request.topics
        (part,) = topic.partitions
        found = self._by_name[request.transactional_id]
        if code == ErrorCode.NONE and request.group_id not in found.groups:
            code = ErrorCode.INVALID_TXN_STATE
        if code == ErrorCode.NONE:
            metadata = part.committed_metadata
            commit = OffsetAndMetadata(part.committed_offset, metadata=metadata)
            place = TopicPartition(topic.name, part.partition_index)
            found.commits.append((request.group_id, place, commit))
        result = TxnOffsetCommitResponsePartition(
            partition_index=part.partition_index, error_code=code
        )
        return TxnOffsetCommitResponse(
            topics=[TxnOffsetCommitResponseTopic(name=topic.name, partitions=[result])]
        )

    def _end(self, request: Any) -> EndTxnResponse:
        code = self._code(request.transactional_id, request.producer_epoch)
        if code != ErrorCode.NONE:
            return EndTxnResponse(error_code=code)
        found = self._by_name[request.transactional_id]
        if not found.is_open:
            is_same = found.ended is request.committed
            return EndTxnResponse(
                error_code=ErrorCode.NONE if is_same else ErrorCode.INVALID_TXN_STATE
            )
        if request.committed:
            for place, values in found.values:
                self.values[place] += values
            self._undecided.append(Undecided(self._late_by, list(found.commits)))
            self._take_over()
        found.clear(request.committed)
        return EndTxnResponse(error_code=0)

    def _take_over(self) -> None:
        for each in self._undecided:
            if not each.questions:
                for group, place, commit in each.commits:
                    self.commits[group][place] = commit
        self._undecided = [each for each in self._undecided if each.questions]

    def _fetch_offsets(self, request: Any) -> OffsetFetchResponse:
        self.questions += 1
        groups = [self._offsets_of(group, request.require_stable) for group in request.groups]
        for each in self._undecided:
            each.questions -= 1
        self._take_over()
        return OffsetFetchResponse(groups=groups)

    def _offsets_of(self, asked: Any, is_stable: bool) -> OffsetFetchResponseGroup:
        """Of all offsets that a group has there are those alone that were taken over."""
        name, there = asked.group_id, self.commits.get(asked.group_id, {})
        places = list(there)
        if asked.topics is not None:
            places = [
                TopicPartition(topic.name, index)
                for topic in asked.topics
                for index in topic.partition_indexes
            ]
        unstable = [
            place
            for place in places
            if is_stable and any(each.may_change(name, place) for each in self._undecided)
        ]
        topics = [
            OffsetFetchResponseTopics(
                name=place.topic,
                partitions=[
                    _unstable(place) if place in unstable else _told(place, there.get(place))
                ],
            )
            for place in places
        ]
        return OffsetFetchResponseGroup(group_id=name, topics=topics, error_code=0)

    def _list_groups(self, _: Any) -> ListGroupsResponse:
        return ListGroupsResponse(
            error_code=0,
            groups=[ListedGroup(group_id=group, protocol_type="") for group in self.commits],
        )

    def _code(self, name: str, epoch: int) -> ErrorCode:
        is_present = self._by_name[name].epoch == epoch
        return ErrorCode.NONE if is_present else ErrorCode.PRODUCER_FENCED


def _unstable(place: TopicPartition) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=place.partition,
        committed_offset=-1,
        metadata="",
        error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT,
    )


def _told(place: TopicPartition, commit: OffsetAndMetadata | None) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=place.partition,
        committed_offset=-1 if commit is None else commit.offset,
        metadata="" if commit is None else commit.metadata,
        error_code=ErrorCode.NONE,
    )


def _find_coordinator(request: Any) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(key=key, node_id=1, host="one", port=9092, error_code=0)
            for key in request.coordinator_keys
        ]
    )


def _handled(
    handler: Callable[[Any], Any], before: Callable[[Callable[[], Any]], Any] | None
) -> Callable[[Any, Any], Any]:
    def handle(request: Any, _: Any) -> Any:
        return handler(request) if before is None else before(lambda: handler(request))

    return handle
