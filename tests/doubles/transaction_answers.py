"""What coordinators say of a transaction's parts: one code for all, others for some."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

Codes = Mapping[TopicPartition, ErrorCode]

NONE_ELSE: Final[Codes] = MappingProxyType({})


def partitions_added(
    request: AddPartitionsToTxnRequest, code: ErrorCode, codes: Codes = NONE_ELSE
) -> Message:
    """To a request of clients, up to version 3."""
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results_by_partition=[
                    AddPartitionsToTxnPartitionResult(
                        partition_index=partition,
                        partition_error_code=codes.get(TopicPartition(topic.name, partition), code),
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.v3_and_below_topics
        ]
    )


def offsets_committed(
    request: TxnOffsetCommitRequest, code: ErrorCode, codes: Codes = NONE_ELSE
) -> Message:
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=one.partition_index,
                        error_code=codes.get(TopicPartition(topic.name, one.partition_index), code),
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
