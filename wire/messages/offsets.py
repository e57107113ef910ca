"""Offsets of a partition: by timestamp, by leader epoch, and the start moved up."""

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
)


class ListOffsetsPartition(Struct):
    partition_index: int = int32()
    current_leader_epoch: int = int32("4+", default=-1, ignorable=True)
    timestamp: int = int64()
    max_num_offsets: int = int32("0", default=1)


class ListOffsetsTopic(Struct):
    name: str = string()
    partitions: list[ListOffsetsPartition] = array(ListOffsetsPartition)


class ListOffsetsRequest(Message, key=2, versions="0-9", flexible="6+"):
    """The offset for a timestamp; -1 asks for the latest, -2 for the earliest.

    0: several offsets, of segments. 1: one offset with its timestamp (KIP-79). 2: isolation
    level (KIP-98). 4: current_leader_epoch fences (KIP-320). 6: flexible. 7: timestamp -3, the
    record of the largest timestamp (KIP-734). 8: -4, the earliest local offset (KIP-405). 9:
    -5, the last tiered one (KIP-1005).
    """

    replica_id: int = int32()
    isolation_level: int = int8("2+")
    topics: list[ListOffsetsTopic] = array(ListOffsetsTopic)


class ListOffsetsPartitionResponse(Struct):
    partition_index: int = int32()
    error_code: int = int16()
    old_style_offsets: list[int] = array(int64, "0")
    timestamp: int = int64("1+", default=-1)
    offset: int = int64("1+", default=-1)
    leader_epoch: int = int32("4+", default=-1)


class ListOffsetsTopicResponse(Struct):
    name: str = string()
    partitions: list[ListOffsetsPartitionResponse] = array(ListOffsetsPartitionResponse)


class ListOffsetsResponse(Message, key=2, versions="0-9", flexible="6+"):
    """One offset, timestamp and leader epoch a partition; -1 where there is none.

    0: a list of offsets. 1: timestamp and offset. 2: throttle time. 4: leader_epoch (KIP-320).
    5: OFFSET_NOT_AVAILABLE while a new leader's high watermark is behind (KIP-207). 6:
    flexible.
    """

    throttle_time_ms: int = int32("2+", ignorable=True)
    topics: list[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse)


class OffsetForLeaderPartition(Struct):
    partition: int = int32()
    current_leader_epoch: int = int32("2+", default=-1, ignorable=True)
    leader_epoch: int = int32()


class OffsetForLeaderTopic(Struct):
    topic: str = string()
    partitions: list[OffsetForLeaderPartition] = array(OffsetForLeaderPartition)


class OffsetForLeaderEpochRequest(Message, key=23, versions="0-4", flexible="4+"):
    """Where an epoch ended in the leader's log, for truncation (KIP-101, KIP-279).

    2: current_leader_epoch fences (KIP-320). 3: replica_id, -2 for a debugging consumer that
    may see past the high watermark. 4: flexible.
    """

    replica_id: int = int32("3+", default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic] = array(OffsetForLeaderTopic)


class EpochEndOffset(Struct):
    error_code: int = int16()
    partition: int = int32()
    leader_epoch: int = int32("1+", default=-1, ignorable=True)
    end_offset: int = int64(default=-1)


class OffsetForLeaderTopicResult(Struct):
    topic: str = string()
    partitions: list[EpochEndOffset] = array(EpochEndOffset)


class OffsetForLeaderEpochResponse(Message, key=23, versions="0-4", flexible="4+"):
    """The end offset of the largest epoch not above the one asked for; -1 when unknown.

    1: that epoch (KIP-279). 2: throttle time. 4: flexible.
    """

    throttle_time_ms: int = int32("2+", ignorable=True)
    topics: list[OffsetForLeaderTopicResult] = array(OffsetForLeaderTopicResult)


class DeleteRecordsPartition(Struct):
    partition_index: int = int32()
    offset: int = int64()


class DeleteRecordsTopic(Struct):
    name: str = string()
    partitions: list[DeleteRecordsPartition] = array(DeleteRecordsPartition)


class DeleteRecordsRequest(Message, key=21, versions="0-2", flexible="2+"):
    """Moves the start of partitions up, to give up the records before (KIP-107).

    Offset -1 stands for the high watermark. 2: flexible.
    """

    topics: list[DeleteRecordsTopic] = array(DeleteRecordsTopic)
    timeout_ms: int = int32()


class DeleteRecordsPartitionResult(Struct):
    partition_index: int = int32()
    low_watermark: int = int64()
    error_code: int = int16()


class DeleteRecordsTopicResult(Struct):
    name: str = string()
    partitions: list[DeleteRecordsPartitionResult] = array(DeleteRecordsPartitionResult)


class DeleteRecordsResponse(Message, key=21, versions="0-2", flexible="2+"):
    """The new low watermark: the least log start offset among the live replicas.

    2: flexible.
    """

    throttle_time_ms: int = int32()
    topics: list[DeleteRecordsTopicResult] = array(DeleteRecordsTopicResult)
