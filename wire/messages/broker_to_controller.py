"""ControlledShutdownRequest, ControlledShutdownResponse, AlterPartitionRequest, AlterPartitionResponse, AllocateProducerIdsRequest, AllocateProducerIdsResponse."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    Struct,
    array,
    int8,
    int16,
    int32,
    int64,
    string,
    uuid,
)


class ControlledShutdownRequest(Message, key=7, versions="0-3", flexible="3+"):
    """ControlledShutdownRequest."""

    broker_id: int = int32()
    broker_epoch: int = int64("2+", default=-1, ignorable=True)


class RemainingPartition(Struct):
    topic_name: str = string()
    partition_index: int = int32()


class ControlledShutdownResponse(Message, key=7, versions="0-3", flexible="3+"):
    """ControlledShutdownResponse."""

    error_code: int = int16()
    remaining_partitions: list[RemainingPartition] = array(RemainingPartition)


class BrokerState(Struct):
    broker_id: int = int32("3+")
    broker_epoch: int = int64("3+", default=-1)


class AlterPartitionRequestPartitionData(Struct):
    partition_index: int = int32()
    leader_epoch: int = int32()
    new_isr: list[int] = array(int32, "0-2")
    new_isr_with_epochs: list[BrokerState] = array(BrokerState, "3+")
    leader_recovery_state: int = int8("1+")
    partition_epoch: int = int32()


class AlterPartitionRequestTopicData(Struct):
    topic_name: str = string("0-1", ignorable=True)
    topic_id: bytes = uuid("2+", ignorable=True)
    partitions: list[AlterPartitionRequestPartitionData] = array(AlterPartitionRequestPartitionData)


class AlterPartitionRequest(Message, key=56, versions="0-3", flexible="0+"):
    """AlterPartitionRequest."""

    broker_id: int = int32()
    broker_epoch: int = int64(default=-1)
    topics: list[AlterPartitionRequestTopicData] = array(AlterPartitionRequestTopicData)


class AlterPartitionResponsePartitionData(Struct):
    partition_index: int = int32()
    error_code: int = int16()
    leader_id: int = int32()
    leader_epoch: int = int32()
    isr: list[int] = array(int32)
    leader_recovery_state: int = int8("1+", ignorable=True)
    partition_epoch: int = int32()


class AlterPartitionResponseTopicData(Struct):
    topic_name: str = string("0-1", ignorable=True)
    topic_id: bytes = uuid("2+", ignorable=True)
    partitions: list[AlterPartitionResponsePartitionData] = array(
        AlterPartitionResponsePartitionData
    )


class AlterPartitionResponse(Message, key=56, versions="0-3", flexible="0+"):
    """AlterPartitionResponse."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    topics: list[AlterPartitionResponseTopicData] = array(AlterPartitionResponseTopicData)


class AllocateProducerIdsRequest(Message, key=67, versions="0", flexible="0+"):
    """AllocateProducerIdsRequest."""

    broker_id: int = int32()
    broker_epoch: int = int64(default=-1)


class AllocateProducerIdsResponse(Message, key=67, versions="0", flexible="0+"):
    """AllocateProducerIdsResponse."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    producer_id_start: int = int64()
    producer_id_len: int = int32()
