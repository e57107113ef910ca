"""A producer's side of transactions: id, partitions, offsets, end."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    boolean,
    int16,
    int32,
    int64,
    string,
)


class InitProducerIdRequest(Message, key=22, versions="0-5", flexible="2+"):
    """A producer id and epoch, fencing the transactional id's producers before (KIP-98).

    2: flexible. 3: the producer's present id and epoch, to resume with (KIP-360). 4:
    PRODUCER_FENCED (KIP-588). 5: TRANSACTION_ABORTABLE (KIP-890).
    """

    transactional_id: str | None = string(nullable="0+")
    transaction_timeout_ms: int = int32()
    producer_id: int = int64("3+", default=-1)
    producer_epoch: int = int16("3+", default=-1)


class InitProducerIdResponse(Message, key=22, versions="0-5", flexible="2+"):
    """The producer id and epoch.

    2: flexible.
    """

    throttle_time_ms: int = int32(ignorable=True)
    error_code: int = int16()
    producer_id: int = int64(default=-1)
    producer_epoch: int = int16()


class AddPartitionsToTxnTopic(Struct):
    name: str = string()
    partitions: list[int] = array(int32)


class AddPartitionsToTxnTransaction(Struct):
    transactional_id: str = string("4+")
    producer_id: int = int64("4+")
    producer_epoch: int = int16("4+")
    verify_only: bool = boolean("4+")
    topics: list[AddPartitionsToTxnTopic] = array(AddPartitionsToTxnTopic, "4+")


class AddPartitionsToTxnRequest(Message, key=24, versions="0-5", flexible="3+"):
    """Partitions become part of a transaction before they are written (KIP-98).

    2: PRODUCER_FENCED (KIP-588). 3: flexible. From 4 on only brokers send it: several
    transactions, and verify_only (KIP-890).
    """

    transactions: list[AddPartitionsToTxnTransaction] = array(AddPartitionsToTxnTransaction, "4+")
    v3_and_below_transactional_id: str = string("0-3")
    v3_and_below_producer_id: int = int64("0-3")
    v3_and_below_producer_epoch: int = int16("0-3")
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = array(AddPartitionsToTxnTopic, "0-3")


class AddPartitionsToTxnPartitionResult(Struct):
    partition_index: int = int32()
    partition_error_code: int = int16()


class AddPartitionsToTxnTopicResult(Struct):
    name: str = string()
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = array(
        AddPartitionsToTxnPartitionResult
    )


class AddPartitionsToTxnResult(Struct):
    transactional_id: str = string("4+")
    topic_results: list[AddPartitionsToTxnTopicResult] = array(AddPartitionsToTxnTopicResult, "4+")


class AddPartitionsToTxnResponse(Message, key=24, versions="0-5", flexible="3+"):
    """An error a partition.

    3: flexible. 4: by transaction, with an error for the whole (KIP-890).
    """

    throttle_time_ms: int = int32()
    error_code: int = int16("4+", ignorable=True)
    results_by_transaction: list[AddPartitionsToTxnResult] = array(AddPartitionsToTxnResult, "4+")
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = array(
        AddPartitionsToTxnTopicResult, "0-3"
    )


class AddOffsetsToTxnRequest(Message, key=25, versions="0-4", flexible="3+"):
    """A group's offsets partition becomes part of a transaction (KIP-98).

    2: PRODUCER_FENCED (KIP-588). 3: flexible. 4: TRANSACTION_ABORTABLE (KIP-890).
    """

    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    group_id: str = string()


class AddOffsetsToTxnResponse(Message, key=25, versions="0-4", flexible="3+"):
    """Only an error code.

    3: flexible.
    """

    throttle_time_ms: int = int32()
    error_code: int = int16()


class EndTxnRequest(Message, key=26, versions="0-4", flexible="3+"):
    """Commits or aborts (KIP-98).

    2: PRODUCER_FENCED (KIP-588). 3: flexible. 4: TRANSACTION_ABORTABLE (KIP-890).
    """

    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    committed: bool = boolean()


class EndTxnResponse(Message, key=26, versions="0-4", flexible="3+"):
    """Only an error code.

    3: flexible.
    """

    throttle_time_ms: int = int32()
    error_code: int = int16()
