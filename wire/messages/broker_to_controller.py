"""What a broker asks of the controller."""

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
    """A broker that wants to stop asks the controller to move its leaderships (KIP-49).

    0: the request header has no client id. 2: broker_epoch (KIP-380). 3: flexible.
    """

    broker_id: int = int32()
    broker_epoch: int = int64("2+", default=-1, ignorable=True)


class RemainingPartition(Struct):
    topic_name: str = string()
    partition_index: int = int32()


class ControlledShutdownResponse(Message, key=7, versions="0-3", flexible="3+"):
    """The partitions that this broker still leads; none means that it may stop.

    3: flexible.
    """

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
    """A leader asks for another ISR (KIP-497).

    1: leader_recovery_state (KIP-704). 2: topic ids for names (KIP-841). 3:
    new_isr_with_epochs, each member with its broker epoch, for new_isr (KIP-903).
    """

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
    """The partition's state as the controller wrote it.

    1: leader_recovery_state (KIP-704). 2: topic ids; INELIGIBLE_REPLICA, NEW_LEADER_ELECTED and
    UNKNOWN_TOPIC_ID (KIP-841).
    """

    throttle_time_ms: int = int32()
    error_code: int = int16()
    topics: list[AlterPartitionResponseTopicData] = array(AlterPartitionResponseTopicData)


class AllocateProducerIdsRequest(Message, key=67, versions="0", flexible="0+"):
    """A broker asks for a block of producer ids (KIP-730)."""

    broker_id: int = int32()
    broker_epoch: int = int64(default=-1)


class AllocateProducerIdsResponse(Message, key=67, versions="0", flexible="0+"):
    """The first id of the block and its length, 1000."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    producer_id_start: int = int64()
    producer_id_len: int = int32()
