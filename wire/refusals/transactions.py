"""Refused: what transactional producers ask, and coordinators on their behalf."""

from __future__ import annotations

from collections.abc import Sequence

from logquake.wire.messages.transaction_admin import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    DescribeTransactionsResponseTransactionState,
    PartitionResponse,
    TopicRequest,
    TopicResponse,
)
from logquake.wire.messages.transaction_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from logquake.wire.refusals.refusal import Refusal, RefusalTable
from logquake.wire.sentinels import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

_FIRST_OF_SEVERAL_TRANSACTIONS = 4


def _init_producer_id(
    _body: InitProducerIdRequest, _version: int, why: Refusal
) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        error_code=why.error, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH
    )


def _add_partitions_to_txn(
    body: AddPartitionsToTxnRequest, version: int, why: Refusal
) -> AddPartitionsToTxnResponse:
    if version >= _FIRST_OF_SEVERAL_TRANSACTIONS:
        return AddPartitionsToTxnResponse(error_code=why.error)
    topics = _added(body.v3_and_below_topics, why)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=topics)


def _added(
    topics: Sequence[AddPartitionsToTxnTopic], why: Refusal
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=why.error
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def _txn_offset_commit(
    body: TxnOffsetCommitRequest, _version: int, why: Refusal
) -> TxnOffsetCommitResponse:
    def refuse(topic: TxnOffsetCommitRequestTopic) -> TxnOffsetCommitResponseTopic:
        partitions = [
            TxnOffsetCommitResponsePartition(
                partition_index=each.partition_index, error_code=why.error
            )
            for each in topic.partitions
        ]
        return TxnOffsetCommitResponseTopic(name=topic.name, partitions=partitions)

    return TxnOffsetCommitResponse(topics=[refuse(topic) for topic in body.topics])


def _write_txn_markers(
    body: WriteTxnMarkersRequest, _version: int, why: Refusal
) -> WriteTxnMarkersResponse:
    def refuse(topic: WritableTxnMarkerTopic) -> WritableTxnMarkerTopicResult:
        partitions = [
            WritableTxnMarkerPartitionResult(partition_index=index, error_code=why.error)
            for index in topic.partition_indexes
        ]
        return WritableTxnMarkerTopicResult(name=topic.name, partitions=partitions)

    def refused(marker: WritableTxnMarker) -> WritableTxnMarkerResult:
        topics = [refuse(topic) for topic in marker.topics]
        return WritableTxnMarkerResult(producer_id=marker.producer_id, topics=topics)

    return WriteTxnMarkersResponse(markers=[refused(marker) for marker in body.markers])


def _describe_producers(
    body: DescribeProducersRequest, _version: int, why: Refusal
) -> DescribeProducersResponse:
    def refuse(topic: TopicRequest) -> TopicResponse:
        partitions = [
            PartitionResponse(partition_index=index, error_code=why.error)
            for index in topic.partition_indexes
        ]
        return TopicResponse(name=topic.name, partitions=partitions)

    return DescribeProducersResponse(topics=[refuse(topic) for topic in body.topics])


def _describe_transactions(
    body: DescribeTransactionsRequest, _version: int, why: Refusal
) -> DescribeTransactionsResponse:
    states = [
        DescribeTransactionsResponseTransactionState(error_code=why.error, transactional_id=each)
        for each in body.transactional_ids
    ]
    return DescribeTransactionsResponse(transaction_states=states)


REFUSALS: RefusalTable = {
    InitProducerIdRequest: _init_producer_id,
    AddPartitionsToTxnRequest: _add_partitions_to_txn,
    TxnOffsetCommitRequest: _txn_offset_commit,
    WriteTxnMarkersRequest: _write_txn_markers,
    DescribeProducersRequest: _describe_producers,
    DescribeTransactionsRequest: _describe_transactions,
}
