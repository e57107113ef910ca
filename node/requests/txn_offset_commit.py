"""TxnOffsetCommit (28), versions 0-4: offsets that hold if their transaction commits (KIP-98).

v2 brings leader epochs (KIP-320), v3 who commits (KIP-447), v4 clients that know
TRANSACTION_ABORTABLE (KIP-890).
"""

from __future__ import annotations

from collections.abc import Mapping

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.groups.group import Committer
from logquake.node.coordinators.groups.offset_manager import OffsetManager
from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.node.metadata.cache import MetadataCache
from logquake.node.replication.transactions.add_partitions_to_txn import TransactionalProducer
from logquake.node.requests.handler import Handler
from logquake.node.requests.known_partitions import by_topic, sort_out
from logquake.node.requests.offsets_of_transaction import offsets_denial
from logquake.node.requests.request import Request
from logquake.seams.scheduler import Scheduler
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from logquake.wire.topic_partition import TopicPartition

_FIRST_VERSION_OF_KNOWING_CLIENTS = 2
_FIRST_VERSION_THAT_KNOWS_ABORTABLE = 4


class TxnOffsetCommit(Handler[TxnOffsetCommitRequest]):
    key = ApiKey.TXN_OFFSET_COMMIT
    versions = range(5)

    def __init__(
        self,
        offsets: OffsetManager,
        cache: MetadataCache,
        scheduler: Scheduler,
        authorizer: Authorizer,
    ) -> None:
        self._offsets = offsets
        self._authorizer = authorizer
        self._cache = cache
        self._scheduler = scheduler

    def handle(self, request: Request, body: TxnOffsetCommitRequest) -> None:
        if denial := offsets_denial(
            self._authorizer, request, body.transactional_id, body.group_id
        ):
            partitions = (
                TopicPartition(topic.name, each.partition_index)
                for topic in body.topics
                for each in topic.partitions
            )
            request.reply(_response(dict.fromkeys(partitions, denial)))
            return
        names = (topic.name for topic in body.topics)
        denied = self._authorizer.denied(request, AclOperation.READ, ResourceType.TOPIC, names)
        known, unknown = sort_out(body.topics, self._cache, denied)
        if not known:
            request.reply(_response(unknown))
            return
        now_ms = self._scheduler.wall_ms()
        offsets = {
            partition: OffsetAndMetadata(
                each.committed_offset,
                each.committed_leader_epoch,
                each.committed_metadata or "",
                now_ms,
            )
            for partition, each in known.items()
        }

        def done(errors: Mapping[TopicPartition, ErrorCode]) -> None:
            version = request.header.api_version
            told = {partition: _for_version(version, error) for partition, error in errors.items()}
            request.reply(_response(unknown | told))

        self._offsets.commit_transactional(
            body.group_id,
            TransactionalProducer(
                body.transactional_id,
                body.producer_id,
                body.producer_epoch,
                request.header.api_version >= _FIRST_VERSION_THAT_KNOWS_ABORTABLE,
            ),
            Committer(body.member_id, body.group_instance_id, body.generation_id),
            offsets,
            done,
        )


def _for_version(version: int, error: ErrorCode) -> ErrorCode:
    """Producers before Kafka 2.0 fail on the error of a load (KAFKA-7296)."""
    is_old = version < _FIRST_VERSION_OF_KNOWING_CLIENTS
    if is_old and error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return error


def _response(errors: Mapping[TopicPartition, ErrorCode]) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic,
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=index, error_code=error)
                    for index, error in partitions
                ],
            )
            for topic, partitions in by_topic(errors)
        ]
    )
