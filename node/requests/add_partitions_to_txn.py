"""AddPartitionsToTxn (24), versions 0-5: partitions become part of a transaction before they are
written (KIP-98).

Producers ask up to v3, of one transaction; v2 knows PRODUCER_FENCED (KIP-588). Brokers ask from v4
on, of several, and mostly whether partitions are part of a transaction already: verify_only
(KIP-890); v5 knows TRANSACTION_ABORTABLE. Of a transactional id, or a topic, that is named twice
the first counts.
A request of no transactions is answered so; Kafka never answers it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.metadata import Producer
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.topic_names import is_internal
from logquake.node.requests.handler import Handler
from logquake.node.requests.producer_fencing import fencing_error
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from logquake.wire.topic_partition import TopicPartition

_FIRST_VERSION_OF_BROKERS = 4
_FIRST_VERSION_WITH_FENCED = 2

Errors = Mapping[TopicPartition, ErrorCode]
TopicResults = list[AddPartitionsToTxnTopicResult]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of one transaction; the partitions in the order of the answer."""

    transactional_id: str
    producer: Producer
    verify_only: bool
    partitions: tuple[TopicPartition, ...]


class AddPartitionsToTxn(Handler[AddPartitionsToTxnRequest]):
    key = ApiKey.ADD_PARTITIONS_TO_TXN
    versions = range(6)

    def __init__(
        self, coordinator: TransactionCoordinator, cache: MetadataCache, authorizer: Authorizer
    ) -> None:
        self._coordinator = coordinator
        self._cache = cache
        self._authorizer = authorizer

    def handle(self, request: Request, body: AddPartitionsToTxnRequest) -> None:
        version = request.header.api_version
        if version < _FIRST_VERSION_OF_BROKERS:
            self._handle_producers(request, _of_producer(body))
        elif self._authorizer.allows_on_cluster(request, AclOperation.CLUSTER_ACTION):
            self._handle_brokers(request, list(_of_brokers(body)))
        else:
            code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            request.reply(AddPartitionsToTxnResponse(error_code=code))

    def _handle_producers(self, request: Request, asked: _Asked) -> None:
        """They may write to no internal topic, authorizer or not."""
        authorizer, write = self._authorizer, AclOperation.WRITE
        resource_type = ResourceType.TRANSACTIONAL_ID
        if not authorizer.allows(request, write, resource_type, asked.transactional_id):
            error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            errors = dict.fromkeys(asked.partitions, error)
            request.reply(_single(_results(asked.partitions, errors)))
            return
        topics = {each.topic for each in asked.partitions}
        denied = {
            *authorizer.denied(request, write, ResourceType.TOPIC, topics),
            *filter(is_internal, topics),
        }
        version = request.header.api_version
        self._answer(version, asked, lambda each: request.reply(_single(each)), denied)

    def _handle_brokers(self, request: Request, asked: list[_Asked]) -> None:
        version = request.header.api_version
        results: dict[str, TopicResults] = {}
        for each in asked:
            self._answer(version, each, partial(_gather, request, len(asked), results, each))
        if not asked:
            request.reply(_batched(results))

    def _answer(
        self,
        version: int,
        asked: _Asked,
        done: Callable[[TopicResults], None],
        denied: Collection[str] = (),
    ) -> None:
        """``denied`` are topics."""

        def told(error: ErrorCode) -> None:
            error = fencing_error(error, version, since=_FIRST_VERSION_WITH_FENCED)
            done(_results(asked.partitions, dict.fromkeys(asked.partitions, error)))

        if unfit := self._unfit(asked.partitions, denied):
            done(_results(asked.partitions, unfit))
            return
        partitions = frozenset(asked.partitions)
        if not asked.verify_only:
            self._coordinator.add_partitions(
                asked.transactional_id, asked.producer, partitions, told
            )
            return
        verified = self._coordinator.verify_partitions(
            asked.transactional_id, asked.producer, partitions
        )
        if isinstance(verified, ErrorCode):
            told(verified)
        else:
            done(_results(asked.partitions, verified))

    def _unfit(self, partitions: tuple[TopicPartition, ...], denied: Collection[str]) -> Errors:
        """One partition that is denied, or not there, is an error for all of them."""
        errors = {
            each: ErrorCode.TOPIC_AUTHORIZATION_FAILED
            if each.topic in denied
            else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            for each in partitions
            if each.topic in denied or self._cache.partition(*each) is None
        }
        if not errors:
            return {}
        return dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED) | errors


def _gather(
    request: Request,
    expected: int,
    results: dict[str, TopicResults],
    asked: _Asked,
    result: TopicResults,
) -> None:
    """Reply with the last of the transactions that are asked about."""
    results[asked.transactional_id] = result
    if len(results) == expected:
        request.reply(_batched(results))


def _of_producer(body: AddPartitionsToTxnRequest) -> _Asked:
    return _Asked(
        body.v3_and_below_transactional_id,
        Producer(body.v3_and_below_producer_id, body.v3_and_below_producer_epoch),
        verify_only=False,
        partitions=_partitions(body.v3_and_below_topics),
    )


def _of_brokers(body: AddPartitionsToTxnRequest) -> Iterator[_Asked]:
    seen: set[str] = set()
    for each in body.transactions:
        if each.transactional_id not in seen:
            seen.add(each.transactional_id)
            yield _Asked(
                each.transactional_id,
                Producer(each.producer_id, each.producer_epoch),
                each.verify_only,
                _partitions(each.topics),
            )


def _partitions(topics: list[AddPartitionsToTxnTopic]) -> tuple[TopicPartition, ...]:
    by_name: dict[str, list[int]] = {}
    for topic in topics:
        by_name.setdefault(topic.name, topic.partitions)
    named = (TopicPartition(name, index) for name, ids in by_name.items() for index in ids)
    return tuple(dict.fromkeys(named))


def _results(partitions: tuple[TopicPartition, ...], errors: Errors) -> TopicResults:
    by_topic: dict[str, list[AddPartitionsToTxnPartitionResult]] = {}
    for each in partitions:
        by_topic.setdefault(each.topic, []).append(
            AddPartitionsToTxnPartitionResult(
                partition_index=each.partition, partition_error_code=errors[each]
            )
        )
    return [
        AddPartitionsToTxnTopicResult(name=name, results_by_partition=results)
        for name, results in by_topic.items()
    ]


def _single(results: TopicResults) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)


def _batched(results: Mapping[str, TopicResults]) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(transactional_id=key, topic_results=each)
            for key, each in results.items()
        ]
    )
