"""Produce: the way of records into a partition."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Records,
    Struct,
    array,
    int16,
    int32,
    int64,
    record_data,
    string,
    struct,
)


class PartitionProduceData(Struct):
    index: int = int32()
    records: Records | None = record_data(nullable="0+")


class TopicProduceData(Struct):
    name: str = string()
    partition_data: list[PartitionProduceData] = array(PartitionProduceData)


class ProduceRequest(Message, key=0, versions="0-11", flexible="9+"):
    """Appends one batch to each of some partitions; with ``acks`` 0 there is no response.

    3: transactional_id, and record format v2 from here on (KIP-98). 7: zstd (KIP-110). 9:
    flexible. 10 and 11 change the response alone.
    """

    transactional_id: str | None = string("3+", nullable="3+", default=None)
    acks: int = int16()
    timeout_ms: int = int32()
    topic_data: list[TopicProduceData] = array(TopicProduceData)


class BatchIndexAndErrorMessage(Struct):
    batch_index: int = int32("8+")
    batch_index_error_message: str | None = string("8+", nullable="8+", default=None)


class LeaderIdAndEpoch(Struct):
    leader_id: int = int32("10+", default=-1)
    leader_epoch: int = int32("10+", default=-1)


class PartitionProduceResponse(Struct):
    index: int = int32()
    error_code: int = int16()
    base_offset: int = int64()
    log_append_time_ms: int = int64("2+", default=-1, ignorable=True)
    log_start_offset: int = int64("5+", default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = array(
        BatchIndexAndErrorMessage, "8+", ignorable=True
    )
    error_message: str | None = string("8+", nullable="8+", default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch = struct(LeaderIdAndEpoch, "10+", tag=0)


class TopicProduceResponse(Struct):
    name: str = string()
    partition_responses: list[PartitionProduceResponse] = array(PartitionProduceResponse)


class NodeEndpoint(Struct):
    node_id: int = int32("10+")
    host: str = string("10+")
    port: int = int32("10+")
    rack: str | None = string("10+", nullable="10+", default=None)


class ProduceResponse(Message, key=0, versions="0-11", flexible="9+"):
    """Where each batch was appended, or why not.

    1: throttle time. 2: log_append_time_ms, -1 under CreateTime. 4: KAFKA_STORAGE_ERROR. 5:
    log_start_offset. 8: record_errors and error_message (KIP-467). 9: flexible. 10:
    current_leader and node_endpoints, so that a client finds a new leader without asking
    (KIP-951). 11: TRANSACTION_ABORTABLE (KIP-890).
    """

    responses: list[TopicProduceResponse] = array(TopicProduceResponse)
    throttle_time_ms: int = int32("1+", ignorable=True)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, "10+", tag=0)
