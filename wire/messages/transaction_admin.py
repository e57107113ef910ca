"""Looking at producers and transactions (KIP-664)."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    int16,
    int32,
    int64,
    string,
)


class TopicRequest(Struct):
    name: str = string()
    partition_indexes: list[int] = array(int32)


class DescribeProducersRequest(Message, key=61, versions="0", flexible="0+"):
    """The active producers of partitions, asked of their leaders (KIP-664)."""

    topics: list[TopicRequest] = array(TopicRequest)


class ProducerState(Struct):
    producer_id: int = int64()
    producer_epoch: int = int32()
    last_sequence: int = int32(default=-1)
    last_timestamp: int = int64(default=-1)
    coordinator_epoch: int = int32()
    current_txn_start_offset: int = int64(default=-1)


class PartitionResponse(Struct):
    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    active_producers: list[ProducerState] = array(ProducerState)


class TopicResponse(Struct):
    name: str = string()
    partitions: list[PartitionResponse] = array(PartitionResponse)


class DescribeProducersResponse(Message, key=61, versions="0", flexible="0+"):
    """Each producer's epoch, last sequence, and where its open transaction starts."""

    throttle_time_ms: int = int32()
    topics: list[TopicResponse] = array(TopicResponse)


class DescribeTransactionsRequest(Message, key=65, versions="0", flexible="0+"):
    """State of transactional ids, asked of their coordinators (KIP-664)."""

    transactional_ids: list[str] = array(string)


class TopicData(Struct):
    topic: str = string()
    partitions: list[int] = array(int32)


class DescribeTransactionsResponseTransactionState(Struct):
    error_code: int = int16()
    transactional_id: str = string()
    transaction_state: str = string()
    transaction_timeout_ms: int = int32()
    transaction_start_time_ms: int = int64()
    producer_id: int = int64()
    producer_epoch: int = int16()
    topics: list[TopicData] = array(TopicData)


class DescribeTransactionsResponse(Message, key=65, versions="0", flexible="0+"):
    """State, timeout, producer and partitions of each."""

    throttle_time_ms: int = int32()
    transaction_states: list[DescribeTransactionsResponseTransactionState] = array(
        DescribeTransactionsResponseTransactionState
    )


class ListTransactionsRequest(Message, key=66, versions="0-1", flexible="0+"):
    """The transactions that one broker coordinates (KIP-664).

    1: duration_filter (KIP-994).
    """

    state_filters: list[str] = array(string)
    producer_id_filters: list[int] = array(int64)
    duration_filter: int = int64("1+", default=-1)


class ListTransactionsResponseTransactionState(Struct):
    transactional_id: str = string()
    producer_id: int = int64()
    transaction_state: str = string()


class ListTransactionsResponse(Message, key=66, versions="0-1", flexible="0+"):
    """Transactional id, producer id and state of each."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    unknown_state_filters: list[str] = array(string)
    transaction_states: list[ListTransactionsResponseTransactionState] = array(
        ListTransactionsResponseTransactionState
    )
