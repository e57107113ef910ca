"""Produce (0), versions 0-11: append to the leaders' logs; answered when acks are met.

Versions 0-2 bring message sets (or whatever else, which Kafka never checked there): they become
record batches on their way into the log. KIP-98 (v3) made one record batch v2 a partition the only
thing allowed; v8 reports errors a record (KIP-467), v10 the current leader where the producer asked
the wrong broker (KIP-951), v11 TRANSACTION_ABORTABLE (KIP-890).
Of a partition that is named twice the last records count, and its refusal hides its success.
Batches of a transaction are verified with its coordinator before the first of them is appended.

While a Produce waits, the connection's next one may be appended already: see pipelining.py.

With acks=0 there is no response; an error can only be told by closing the connection, so that the
producer refreshes its metadata, as Kafka does.
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.metadata.cache import MetadataCache
from logquake.node.replication.appends import Appends
from logquake.node.replication.purgatories.delayed_produce import Done
from logquake.node.replication.transactions.add_partitions_to_txn import TransactionalProducer
from logquake.node.replication.transactions.appends import (
    TransactionalAppends,
    transactional_header,
)
from logquake.node.replication.values import ProduceEntry, ProduceResult
from logquake.node.requests.current_leader import leader_hint, node_endpoints
from logquake.node.requests.handler import Handler
from logquake.node.requests.pipelining import ProducePipelining
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from logquake.wire.records import claims_transaction, read_produced
from logquake.wire.sentinels import ACKS_ALL
from logquake.wire.topic_partition import TopicPartition

_VALID_ACKS = (0, 1, ACKS_ALL)
_FIRST_STRICT_VERSION = 3
_FIRST_VERSION_WITH_LEADER = 10
_FIRST_VERSION_WITH_ABORTABLE = 11


_SEVERAL_PRODUCERS = "Transactional records contained more than one producer ID"


class Produce(Handler[ProduceRequest]):
    key = ApiKey.PRODUCE
    versions = range(12)

    def __init__(
        self,
        appends: Appends,
        transactional: TransactionalAppends,
        cache: MetadataCache,
        pipelining: ProducePipelining,
        authorizer: Authorizer,
    ) -> None:
        self._appends = appends
        self._transactional = transactional
        self._authorizer = authorizer
        self._cache = cache
        self._pipelining = pipelining

    def handle(self, request: Request, body: ProduceRequest) -> None:
        transactional_id = body.transactional_id
        if (
            transactional_id is None or not self._may_write_as(request, transactional_id)
        ) and _claims_transaction(body):
            self._refuse(request, body, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
            return
        entries: dict[TopicPartition, ProduceEntry] = {}
        refused: dict[TopicPartition, ProduceResult] = {}
        names = (topic.name for topic in body.topic_data)
        denied = self._authorizer.denied(request, AclOperation.WRITE, ResourceType.TOPIC, names)
        for topic in body.topic_data:
            for partition in topic.partition_data:
                key = TopicPartition(topic.name, partition.index)
                if topic.name in denied:
                    refused[key] = ProduceResult(*key, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                    continue
                checked = self._check(request.header.api_version, body.acks, topic.name, partition)
                if isinstance(checked, ProduceEntry):
                    entries[key] = checked
                else:
                    refused[key] = checked

        def done(results: list[ProduceResult]) -> None:
            kept = [each for each in results if (each.topic, each.partition) not in refused]
            self._reply(request, body.acks, [*kept, *refused.values()])

        if not entries:
            done([])
        elif body.transactional_id is None:
            appended = list(entries.values())
            waits = self._appends.add(appended, body.acks, body.timeout_ms, done)
            request.next_may_follow = self._pipelining.lets_follow(appended, waits=waits)
        else:
            self._append_of(body.transactional_id, request, body, list(entries.values()), done)

    def _append_of(
        self,
        transactional_id: str,
        request: Request,
        body: ProduceRequest,
        entries: list[ProduceEntry],
        done: Done,
    ) -> None:
        """What comes with a transactional id. It may hold records of no transaction too."""
        producers = _producers(entries)
        if len(producers) > 1:
            self._refuse(request, body, ErrorCode.INVALID_PRODUCER_ID_MAPPING, _SEVERAL_PRODUCERS)
            return
        knows_abortable = request.header.api_version >= _FIRST_VERSION_WITH_ABORTABLE
        waits: bool | None
        if producers:
            producer = TransactionalProducer(transactional_id, *producers.pop(), knows_abortable)
            waits = self._transactional.add(producer, entries, body.acks, body.timeout_ms, done)
        else:
            waits = self._appends.add(entries, body.acks, body.timeout_ms, done)
        # Nothing is appended yet while a coordinator is asked: the next one would come before it.
        request.next_may_follow = waits is not None and self._pipelining.lets_follow(
            entries, waits=waits
        )

    def _may_write_as(self, request: Request, transactional_id: str) -> bool:
        return self._authorizer.allows(
            request, AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id
        )

    def _refuse(
        self, request: Request, body: ProduceRequest, error: ErrorCode, message: str | None = None
    ) -> None:
        """The whole request."""
        named = dict.fromkeys(
            TopicPartition(topic.name, partition.index)
            for topic in body.topic_data
            for partition in topic.partition_data
        )
        results = [ProduceResult(*key, error, error_message=message) for key in named]
        self._reply(request, body.acks, results)

    def _check(
        self, version: int, acks: int, topic: str, partition: PartitionProduceData
    ) -> ProduceEntry | ProduceResult:
        """The records to append; or why not, in the order of KafkaApis.handleProduceRequest."""
        index, records = partition.index, partition.records
        if self._cache.partition(topic, index) is None:
            return ProduceResult(topic, index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if not isinstance(records, memoryview):
            return ProduceResult(topic, index, ErrorCode.INVALID_RECORD)
        try:
            header = read_produced(records, version) if version >= _FIRST_STRICT_VERSION else None
        except RecordError as error:
            return ProduceResult(topic, index, error.code)
        if acks not in _VALID_ACKS:
            return ProduceResult(topic, index, ErrorCode.INVALID_REQUIRED_ACKS)
        return ProduceEntry(topic, index, records, header)

    def _reply(self, request: Request, acks: int, results: list[ProduceResult]) -> None:
        if acks == 0:
            failed = next((each for each in results if each.error != ErrorCode.NONE), None)
            if failed is None:
                request.reply(None)
            else:
                request.close(f"{failed.error.name} on {failed.topic}-{failed.partition}, acks=0")
            return
        request.reply(self._response(request.header.api_version, request.listener, results))

    def _response(
        self, version: int, listener: ListenerName, results: list[ProduceResult]
    ) -> ProduceResponse:
        by_topic: dict[str, list[PartitionProduceResponse]] = {}
        leaders: set[int] = set()
        for result in results:
            answer = _partition_response(result)
            if (
                result.error == ErrorCode.NOT_LEADER_OR_FOLLOWER
                and version >= _FIRST_VERSION_WITH_LEADER
            ):
                hint = leader_hint(
                    self._cache, result.topic, result.partition, result.current_leader
                )
                answer.current_leader = LeaderIdAndEpoch(
                    leader_id=hint.leader_id, leader_epoch=hint.leader_epoch
                )
                leaders.add(hint.leader_id)
            by_topic.setdefault(result.topic, []).append(answer)
        return ProduceResponse(
            responses=[
                TopicProduceResponse(name=name, partition_responses=answers)
                for name, answers in by_topic.items()
            ],
            node_endpoints=node_endpoints(NodeEndpoint, self._cache, listener, leaders),
        )


def _claims_transaction(body: ProduceRequest) -> bool:
    for topic in body.topic_data:
        for partition in topic.partition_data:
            records = partition.records
            if isinstance(records, memoryview) and claims_transaction(records):
                return True
    return False


def _producers(entries: list[ProduceEntry]) -> set[tuple[int, int]]:
    """Id and epoch of whose transactions the records are part."""
    return {
        (header.producer_id, header.producer_epoch)
        for entry in entries
        if (header := transactional_header(entry)) is not None
    }


def _partition_response(result: ProduceResult) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=result.partition,
        error_code=result.error,
        base_offset=result.base_offset,
        log_append_time_ms=result.log_append_time_ms,
        log_start_offset=result.log_start_offset,
        error_message=result.error_message,
        record_errors=[
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=message)
            for index, message in result.record_errors
        ],
    )
