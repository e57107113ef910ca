"""Produce, in every version that is served."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.node.requests.produce import Produce
from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from logquake.wire.records import BatchFlag, Codec
from tests.unit.node.requests.lone_broker import LoneBroker

VERSIONS = Produce.versions

every_version = pytest.mark.parametrize("version", VERSIONS)
strict_versions = pytest.mark.parametrize("version", range(3, 12))


def produce(
    records: bytes | None, *, topic: str = "orders", partition: int = 0, acks: int = -1, **rest: Any
) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=records)
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=[TopicProduceData(name=topic, partition_data=[data])],
        **rest,
    )


def only(response: Any) -> Any:
    ((answer,),) = [topic.partition_responses for topic in response.responses]
    return answer


def end_offset(broker: LoneBroker, partition: int = 0) -> int:
    asked = ListOffsetsPartition(partition_index=partition, timestamp=-1)
    topic = ListOffsetsTopic(name="orders", partitions=[asked])
    reply = broker.ask(ListOffsetsRequest(replica_id=-1, topics=[topic]), 5)
    return int(reply.topics[0].partitions[0].offset)


@every_version
@pytest.mark.parametrize("acks", [1, -1])
def test_records_get_the_next_offsets(
    broker: LoneBroker, batch: Any, version: int, acks: int
) -> None:
    first = only(broker.ask(produce(batch(b"a", b"b"), acks=acks), version))
    second = only(broker.ask(produce(batch(b"c"), acks=acks), version))
    assert (first.error_code, first.base_offset, first.log_append_time_ms) == (0, 0, -1)
    assert (second.error_code, second.base_offset) == (0, 2)
    assert second.log_start_offset == (0 if version >= 5 else -1)
    assert (second.record_errors, second.error_message) == ([], None)


@every_version
def test_acks_0_gets_no_answer(broker: LoneBroker, batch: Any, version: int) -> None:
    (outcome,) = broker.outcomes(produce(batch(b"a"), acks=0), version)
    assert outcome == Disconnected("no response is due")
    assert end_offset(broker) == 1


@every_version
def test_a_failure_with_acks_0_closes_the_connection(
    broker: LoneBroker, batch: Any, version: int
) -> None:
    (outcome,) = broker.outcomes(produce(batch(b"a"), topic="nowhere", acks=0), version)
    assert outcome == Disconnected("UNKNOWN_TOPIC_OR_PARTITION on nowhere-0, acks=0")


@every_version
@pytest.mark.parametrize("partition", [-1, 2, 2**31 - 1])
def test_unknown_partitions_are_refused(
    broker: LoneBroker, batch: Any, version: int, partition: int
) -> None:
    answer = only(broker.ask(produce(batch(b"a"), partition=partition), version))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (answer.base_offset, answer.log_start_offset) == (-1, -1)


@every_version
def test_another_broker_leads(broker: LoneBroker, batch: Any, version: int) -> None:
    response = broker.ask(produce(batch(b"a"), topic="elsewhere"), version)
    answer = only(response)
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    if version >= 10:  # KIP-951
        assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (2, 5)
        (node,) = response.node_endpoints
        assert (node.node_id, node.port, node.rack) == (2, 9093, "east")
    else:
        assert response.node_endpoints == []


@every_version
@pytest.mark.parametrize("acks", [2, -2, 32767])
def test_acks_that_mean_nothing_are_refused(
    broker: LoneBroker, batch: Any, version: int, acks: int
) -> None:
    answer = only(broker.ask(produce(batch(b"a"), acks=acks), version))
    assert answer.error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert end_offset(broker) == 0


@every_version
def test_the_topic_is_looked_for_before_acks_are_read(
    broker: LoneBroker, batch: Any, version: int
) -> None:
    answer = only(broker.ask(produce(batch(b"a"), topic="nowhere", acks=9), version))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@strict_versions
@pytest.mark.parametrize("records", [None, b"", b"short"])
def test_no_batch_is_no_record(broker: LoneBroker, version: int, records: bytes | None) -> None:
    answer = only(broker.ask(produce(records), version))
    assert answer.error_code == ErrorCode.INVALID_RECORD


@every_version
def test_two_batches_are_refused_and_neither_is_kept(
    broker: LoneBroker, batch: Any, version: int
) -> None:
    answer = only(broker.ask(produce(batch(b"a") + batch(b"b")), version))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert end_offset(broker) == 0


@every_version
def test_a_damaged_batch_is_corrupt(broker: LoneBroker, batch: Any, version: int) -> None:
    damaged = bytearray(batch(b"abcdef"))
    damaged[-2] ^= 1
    answer = only(broker.ask(produce(bytes(damaged)), version))
    assert answer.error_code == ErrorCode.CORRUPT_MESSAGE


@every_version
def test_zstd_came_with_version_7(broker: LoneBroker, batch: Any, version: int) -> None:
    answer = only(broker.ask(produce(batch(b"a", codec=Codec.ZSTD)), version))
    refused = version in range(3, 7)  # Kafka never looked before version 3
    expected = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE if refused else ErrorCode.NONE
    assert answer.error_code == expected


@every_version
def test_a_batch_over_max_message_bytes_is_too_large(
    broker: LoneBroker, batch: Any, version: int
) -> None:
    answer = only(broker.ask(produce(batch(bytes(1_048_588))), version))
    assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


@every_version
def test_records_at_fault_are_named(broker: LoneBroker, batch: Any, version: int) -> None:
    """KIP-467: a compacted topic wants keys."""
    broker.create_topic("compacted", config={"cleanup.policy": "compact"})
    answer = only(broker.ask(produce(batch(b"a", b"b"), topic="compacted"), version))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    named = [error.batch_index for error in answer.record_errors]
    assert named == ([0, 1] if version >= 8 else [])


@every_version
def test_transactional_records_without_an_id_are_not_authorised(
    broker: LoneBroker, batch: Any, version: int
) -> None:
    records = batch(
        b"a", producer_id=7, producer_epoch=0, base_sequence=0, flags=BatchFlag.TRANSACTIONAL
    )
    request = produce(records)
    plain = PartitionProduceData(index=1, records=batch(b"plain"))
    request.topic_data[0].partition_data.append(plain)
    (topic,) = broker.ask(request, version).responses
    assert {each.error_code for each in topic.partition_responses} == {
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    }
    assert end_offset(broker, 1) == 0


@every_version
def test_a_repeated_batch_is_answered_as_the_first_time(
    broker: LoneBroker, batch: Any, version: int
) -> None:
    def send(sequence: int) -> Any:
        records = batch(b"a", producer_id=7, producer_epoch=0, base_sequence=sequence)
        return only(broker.ask(produce(records), version))

    first, second, again = send(0), send(1), send(0)
    assert [first.base_offset, second.base_offset, again.base_offset] == [0, 1, 0]
    written_ms = 1_700_000_000_000 if version >= 2 else -1
    assert [first.log_append_time_ms, again.log_append_time_ms] == [-1, written_ms]
    assert send(5).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert end_offset(broker) == 2


def test_one_partition_fails_and_the_other_does_not(
    broker: LoneBroker, batch: Callable[..., bytes]
) -> None:
    request = produce(batch(b"a"))
    request.topic_data[0].partition_data.append(PartitionProduceData(index=7, records=batch(b"b")))
    (topic,) = broker.ask(request, 11).responses
    assert {each.index: each.error_code for each in topic.partition_responses} == {
        0: ErrorCode.NONE,
        7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


@strict_versions
def test_of_a_partition_named_twice_the_last_records_count(
    broker: LoneBroker, batch: Any, version: int
) -> None:
    request = produce(batch(b"first", b"of two"))
    request.topic_data += produce(batch(b"last")).topic_data
    assert only(broker.ask(request, version)).base_offset == 0
    assert end_offset(broker) == 1


@strict_versions
def test_a_refusal_hides_the_success_of_the_same_partition(
    broker: LoneBroker, batch: Any, version: int
) -> None:
    request = produce(b"short")
    request.topic_data += produce(batch(b"good")).topic_data
    assert only(broker.ask(request, version)).error_code != ErrorCode.NONE
    assert end_offset(broker) == 1
