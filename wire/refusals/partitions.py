"""Refused: what clients and followers ask of partitions."""

from __future__ import annotations

from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseTopic,
)
from logquake.wire.messages.offsets import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
    DeleteRecordsTopicResult,
    EpochEndOffset,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopic,
    OffsetForLeaderTopicResult,
)
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from logquake.wire.refusals.refusal import Refusal, RefusalTable
from logquake.wire.sentinels import UNKNOWN_OFFSET

_NO_ACKS = 0
_FIRST_FETCH_WITHOUT_PARTITIONS = 13


def _produce(body: ProduceRequest, _version: int, why: Refusal) -> ProduceResponse | None:
    """None where the producer wants no answer: a broker ends its connection."""

    def refuse(topic: TopicProduceData) -> TopicProduceResponse:
        partitions = [
            PartitionProduceResponse(
                index=each.index,
                error_code=why.error,
                base_offset=UNKNOWN_OFFSET,
                error_message=why.message,
            )
            for each in topic.partition_data
        ]
        return TopicProduceResponse(name=topic.name, partition_responses=partitions)

    if body.acks == _NO_ACKS:
        return None
    return ProduceResponse(responses=[refuse(topic) for topic in body.topic_data])


def _fetch(body: FetchRequest, version: int, why: Refusal) -> FetchResponse:
    """Said of each partition too, until clients were known to read the code of the whole."""

    def refuse(topic: FetchTopic) -> FetchableTopicResponse:
        partitions = [
            PartitionData(
                partition_index=each.partition,
                error_code=why.error,
                high_watermark=UNKNOWN_OFFSET,
            )
            for each in topic.partitions
        ]
        return FetchableTopicResponse(topic=topic.topic, partitions=partitions)

    topics = body.topics if version < _FIRST_FETCH_WITHOUT_PARTITIONS else []
    return FetchResponse(
        error_code=why.error,
        session_id=body.session_id,
        responses=[refuse(topic) for topic in topics],
    )


def _list_offsets(body: ListOffsetsRequest, _version: int, why: Refusal) -> ListOffsetsResponse:
    def refuse(topic: ListOffsetsTopic) -> ListOffsetsTopicResponse:
        partitions = [
            ListOffsetsPartitionResponse(partition_index=each.partition_index, error_code=why.error)
            for each in topic.partitions
        ]
        return ListOffsetsTopicResponse(name=topic.name, partitions=partitions)

    return ListOffsetsResponse(topics=[refuse(topic) for topic in body.topics])


def _offset_for_leader_epoch(
    body: OffsetForLeaderEpochRequest, _version: int, why: Refusal
) -> OffsetForLeaderEpochResponse:
    def refuse(topic: OffsetForLeaderTopic) -> OffsetForLeaderTopicResult:
        partitions = [
            EpochEndOffset(error_code=why.error, partition=each.partition)
            for each in topic.partitions
        ]
        return OffsetForLeaderTopicResult(topic=topic.topic, partitions=partitions)

    return OffsetForLeaderEpochResponse(topics=[refuse(topic) for topic in body.topics])


def _delete_records(
    body: DeleteRecordsRequest, _version: int, why: Refusal
) -> DeleteRecordsResponse:
    def refuse(topic: DeleteRecordsTopic) -> DeleteRecordsTopicResult:
        partitions = [
            DeleteRecordsPartitionResult(
                partition_index=each.partition_index,
                low_watermark=UNKNOWN_OFFSET,
                error_code=why.error,
            )
            for each in topic.partitions
        ]
        return DeleteRecordsTopicResult(name=topic.name, partitions=partitions)

    return DeleteRecordsResponse(topics=[refuse(topic) for topic in body.topics])


def _metadata(body: MetadataRequest, _version: int, why: Refusal) -> MetadataResponse:
    """Of no topic where all were asked for: then the answer tells nothing."""
    topics = [
        MetadataResponseTopic(error_code=why.error, name=each.name or "", topic_id=each.topic_id)
        for each in body.topics or ()
    ]
    return MetadataResponse(topics=topics)


REFUSALS: RefusalTable = {
    ProduceRequest: _produce,
    FetchRequest: _fetch,
    ListOffsetsRequest: _list_offsets,
    OffsetForLeaderEpochRequest: _offset_for_leader_epoch,
    DeleteRecordsRequest: _delete_records,
    MetadataRequest: _metadata,
}
