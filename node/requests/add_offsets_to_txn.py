"""AddOffsetsToTxn (25), versions 0-4: a group's offsets become part of a transaction (KIP-98).

It is AddPartitionsToTxn of the partition of __consumer_offsets that the group belongs to, whether
it is there or not. v2 knows PRODUCER_FENCED (KIP-588), v4 TRANSACTION_ABORTABLE (KIP-890).
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.metadata import Producer
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import partition_for
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.node.requests.handler import Handler
from logquake.node.requests.offsets_of_transaction import offsets_denial
from logquake.node.requests.producer_fencing import fencing_error
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from logquake.wire.topic_partition import TopicPartition

_FIRST_VERSION_WITH_FENCED = 2


class AddOffsetsToTxn(Handler[AddOffsetsToTxnRequest]):
    """``default_partitions`` are those that __consumer_offsets gets when it is made."""

    key = ApiKey.ADD_OFFSETS_TO_TXN
    versions = range(5)

    def __init__(
        self,
        coordinator: TransactionCoordinator,
        cache: MetadataCache,
        default_partitions: int,
        authorizer: Authorizer,
    ) -> None:
        self._coordinator = coordinator
        self._authorizer = authorizer
        self._cache = cache
        self._default_partitions = default_partitions

    def handle(self, request: Request, body: AddOffsetsToTxnRequest) -> None:
        version = request.header.api_version

        def done(error: ErrorCode) -> None:
            told = fencing_error(error, version, since=_FIRST_VERSION_WITH_FENCED)
            request.reply(AddOffsetsToTxnResponse(error_code=told))

        if denied := offsets_denial(
            self._authorizer, request, body.transactional_id, body.group_id
        ):
            done(denied)
            return
        offsets = self._offsets_of(body.group_id)
        if offsets is None:
            done(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        self._coordinator.add_partitions(
            body.transactional_id,
            Producer(body.producer_id, body.producer_epoch),
            frozenset({offsets}),
            done,
        )

    def _offsets_of(self, group_id: str) -> TopicPartition | None:
        """None while it is not known how many partitions there are."""
        image = self._cache.topic(GROUP_METADATA_TOPIC)
        partitions = self._default_partitions if image is None else image.partition_count
        if partitions is None:
            return None
        return TopicPartition(GROUP_METADATA_TOPIC, partition_for(group_id, partitions))
