"""ListOffsets version 0 beside a real Kafka: the starts of segments, by the time of their files."""

from __future__ import annotations

import os
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.cluster.api import Cluster
from logquake.wire.api import ApiKey
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import decode, encode
from tests.compat.lone_kafka import KAFKA_ID, LoneKafka, Wire
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

TOPIC = "segments"
CONSUMER, DEBUGGING, REPLICA = -1, -2, 7
SECONDS = (-3, -2, -1, 0, 1, 2, 3, 2**32)  # times, and the special values below 0
COUNTS = (-1, 0, 1, 2, 100)


def test_kafka_and_ours_answer_the_same(lone_kafka: LoneKafka, cluster: Cluster) -> None:
    ours = cluster.bootstrap_servers.split(",")[0]
    of_kafka = answers(lone_kafka.servers, KAFKA_ID, lone_kafka.data)
    assert len({str(answer) for answer in of_kafka}) > 10
    assert answers(ours, 1, cluster.layout.data_of(1)) == of_kafka


def answers(servers: str, broker_id: int, data: Path) -> list[tuple[int, list[int]]]:
    """To every question, before and after a deletion of records within a batch."""
    admin = AdminClient({"bootstrap.servers": servers})
    config = {"segment.bytes": "300", "retention.ms": "-1"}  # the records are of 1970
    topic = NewTopic(TOPIC, 1, replica_assignment=[[broker_id]], config=config)
    admin.create_topics([topic], operation_timeout=PATIENCE_S)[TOPIC].result(PATIENCE_S)
    host, port = servers.split(":")
    with closing(Wire(host, int(port))) as wire:
        for _ in range(5):
            append(wire)
        segments = sorted((data / f"{TOPIC}-0").glob("*.log"))
        for second, segment in enumerate(segments, start=1):
            os.utime(segment, (second, second))
        before = ask_all(wire)
        asked = TopicPartition(TOPIC, 0, 5)
        admin.delete_records([asked])[asked].result(PATIENCE_S)
        return [(len(segments), []), *before, *ask_all(wire)]


def append(wire: Wire) -> None:
    """A batch of three records, once the broker knows that it leads."""
    records = [Record(offset, 0, None, bytes(20), ()) for offset in range(3)]
    data = PartitionProduceData(index=0, records=encode_batch(records))
    topic = TopicProduceData(name=TOPIC, partition_data=[data])
    body = encode(ProduceRequest(acks=-1, timeout_ms=5_000, topic_data=[topic]), 8)
    wait_for(
        "leader that appends",
        lambda: decode(ProduceResponse, 8, memoryview(wire.send(ApiKey.PRODUCE, 8, body))),
        lambda answer: not answer.responses[0].partition_responses[0].error_code,
    )


def ask_all(wire: Wire) -> list[tuple[int, list[int]]]:
    return [ask(wire, *each) for each in product((CONSUMER, DEBUGGING, REPLICA), SECONDS, COUNTS)]


def ask(wire: Wire, replica_id: int, second: int, count: int) -> tuple[int, list[int]]:
    timestamp = second if second < 0 else 1_000 * second
    asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp, max_num_offsets=count)
    topic = ListOffsetsTopic(name=TOPIC, partitions=[asked])
    body = encode(ListOffsetsRequest(replica_id=replica_id, topics=[topic]), 0)
    answer = decode(ListOffsetsResponse, 0, memoryview(wire.send(ApiKey.LIST_OFFSETS, 0, body)))
    (partition,) = answer.topics[0].partitions
    return partition.error_code, partition.old_style_offsets
