"""A producer's transactions on a LoneBroker: batches, markers, and a coordinator elsewhere."""

from __future__ import annotations

from typing import Any

from logquake.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from logquake.wire.messages.transaction_commit import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from logquake.wire.records import BatchFlag, Record, encode_batch
from tests.doubles.network import Sent
from tests.unit.node.requests.lone_broker import TOPIC, LoneBroker

PID = 7


def transactional_batch(sequence: int = 0, *, pid: int = PID, epoch: int = 0) -> bytes:
    """Of one record."""
    return bytes(
        encode_batch(
            [Record(0, 1_700_000_000_000, None, b"v")],
            producer_id=pid,
            producer_epoch=epoch,
            base_sequence=sequence,
            flags=BatchFlag.TRANSACTIONAL,
        )
    )


def produce(
    *batches: bytes, acks: int = -1, transactional_id: str | None = "t", topic: str = TOPIC
) -> ProduceRequest:
    """A batch for each partition, from 0 on."""
    data = [PartitionProduceData(index=at, records=each) for at, each in enumerate(batches)]
    return ProduceRequest(
        acks=acks,
        timeout_ms=1_000,
        transactional_id=transactional_id,
        topic_data=[TopicProduceData(name=topic, partition_data=data)],
    )


def marker(
    *partitions: int,
    pid: int = PID,
    epoch: int = 0,
    coordinator_epoch: int = 0,
    commit: bool = True,
    topic: str = TOPIC,
) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id=pid,
        producer_epoch=epoch,
        transaction_result=commit,
        coordinator_epoch=coordinator_epoch,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=list(partitions))],
    )


def write_markers(
    broker: LoneBroker, *markers: WritableTxnMarker, version: int = 1
) -> list[tuple[int, str, int, int]]:
    """(producer id, topic, partition, error) in the order of the answer."""
    answer = broker.ask(WriteTxnMarkersRequest(markers=list(markers)), version)
    return [
        (result.producer_id, topic.name, each.partition_index, each.error_code)
        for result in answer.markers
        for topic in result.topics
        for each in topic.partitions
    ]


def verifications(broker: LoneBroker) -> list[Sent]:
    """What the coordinator was asked so far."""
    return [each for each in broker.network.sent if hasattr(each.request, "transactions")]


def verify(broker: LoneBroker, *codes: int) -> None:
    """Answer the last of these for orders-0, orders-1 and so on, and end the pass."""
    results = [
        AddPartitionsToTxnPartitionResult(partition_index=at, partition_error_code=code)
        for at, code in enumerate(codes)
    ]
    topic: Any = AddPartitionsToTxnTopicResult(name=TOPIC, results_by_partition=results)
    result = AddPartitionsToTxnResult(transactional_id="t", topic_results=[topic])
    verifications(broker)[-1].done(AddPartitionsToTxnResponse(results_by_transaction=[result]))
    broker.broker.end_of_pass()
