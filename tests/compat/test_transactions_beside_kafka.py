"""What leaders say of transactions at their partitions: ours and a Kafka 3.9, asked the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from logquake.cluster.api import Cluster
from logquake.wire.error_codes import error_codes
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.messages.produce import ProduceResponse
from logquake.wire.messages.transaction_admin import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicRequest,
)
from logquake.wire.messages.transaction_commit import (
    WritableTxnMarker,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import Message, Struct
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import KafkaPrograms
from tests.one_broker import OneBroker, held_ports
from tests.unit.node.requests.lone_broker import TOPIC
from tests.unit.node.requests.transactions import marker, produce, transactional_batch
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

LATEST = -1
READ_COMMITTED = 1
READ_UNCOMMITTED = 0
NONE = ErrorCode.NONE


@dataclass(frozen=True)
class Both:
    ours: OneBroker
    kafka: OneBroker

    def ask(self, request: Any, answer: Any, version: int) -> Any:
        """The one answer of both."""
        ours, kafkas = (
            comparable(broker.ask(request, answer, version)) for broker in (self.ours, self.kafka)
        )
        assert ours == kafkas
        return ours

    def produce(self, *batches: bytes, version: int = 11, **rest: Any) -> list[tuple[int, int]]:
        """(error, base offset) by partition."""
        answer = self.ask(produce(*batches, **rest), ProduceResponse, version)
        return [
            (each["error_code"], each["base_offset"])
            for topic in answer["responses"]
            for each in topic["partition_responses"]
        ]

    def end(self, *markers: WritableTxnMarker, version: int = 1) -> list[int]:
        """The errors."""
        request = WriteTxnMarkersRequest(markers=list(markers))
        answer = self.ask(request, WriteTxnMarkersResponse, version)
        return [
            each["error_code"]
            for result in answer["markers"]
            for topic in result["topics"]
            for each in topic["partitions"]
        ]


def comparable(value: Any) -> Any:
    """A struct as a dictionary; lists in which Kafka follows a hash's order are sorted."""
    if isinstance(value, Struct):
        fields = {name: comparable(getattr(value, name)) for name in value.__schema__.fields}
        return {name: each for name, each in fields.items() if name not in _NOT_COMPARED}
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return sorted((comparable(each) for each in value), key=repr)
    return value


# Times of the broker's own clock, and records that carry them.
_NOT_COMPARED = {"last_timestamp", "records", "port"}


@contextmanager
def pair(
    programs: KafkaPrograms, zookeeper: str, folder: Path, *, verifying: bool
) -> Iterator[Both]:
    """Ours and Kafka's, each alone in a cluster of its own, with the same topics."""
    with held_ports(2) as ports:
        ours, kafka = (OneBroker(port) for port in ports)

        def settings(broker: OneBroker, of: str) -> dict[str, Any]:
            return {
                "broker.id": 1,
                "listeners": f"PLAINTEXT://127.0.0.1:{broker.port}",
                "log.dirs": folder / of,
                "zookeeper.connect": own_chroot(zookeeper, f"{folder.name}-{of}"),
                "log.retention.ms": -1,
                "transaction.partition.verification.enable": str(verifying).lower(),
                "transaction.state.log.replication.factor": 1,
                "transaction.state.log.min.isr": 1,
                "transaction.state.log.num.partitions": 1,
            }

        with (
            broker_by_hand(folder, settings(ours, "ours")),
            programs.broker(folder.name, settings(kafka, "kafkas")),
        ):
            for broker in (ours, kafka):
                broker.wait_to_know({1})
                for topic in (TOPIC, "__consumer_offsets"):
                    broker.create(topic, 3)
            yield Both(ours, kafka)


@pytest.fixture(scope="module")
def both(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    """Nobody coordinates: nothing is verified, and the test sends the markers itself."""
    folder = tmp_path_factory.mktemp("alone")
    with pair(kafka_programs, cluster.zookeeper_connect, folder, verifying=False) as both:
        yield both


@pytest.fixture
def verifying(kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path: Path) -> Iterator[Both]:
    """Each is the coordinator that it asks."""
    zookeeper = cluster.zookeeper_connect
    with pair(kafka_programs, zookeeper, tmp_path, verifying=True) as both:
        yield both


def describe(both: Both, topic: str, *partitions: int) -> list[Any]:
    request = DescribeProducersRequest(
        topics=[TopicRequest(name=topic, partition_indexes=list(partitions))]
    )
    answer = both.ask(request, DescribeProducersResponse, 0)
    return list(answer["topics"][0]["partitions"])


def read(both: Both, offset: int, isolation: int, version: int = 12) -> Any:
    """What a reader of orders-0 gets."""
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    request = FetchRequest(
        isolation_level=isolation,
        session_epoch=-1,
        topics=[FetchTopic(topic=TOPIC, partitions=[partition])],
    )
    answer = both.ask(request, FetchResponse, version)
    (told,) = answer["responses"][0]["partitions"]
    return told


def latest(both: Both, isolation: int, version: int = 8) -> int:
    partition = ListOffsetsPartition(partition_index=0, timestamp=LATEST)
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation,
        topics=[ListOffsetsTopic(name=TOPIC, partitions=[partition])],
    )
    answer = both.ask(request, ListOffsetsResponse, version)
    return int(answer["topics"][0]["partitions"][0]["offset"])


def test_markers_are_held_against_what_is_known_of_their_producers(both: Both) -> None:
    both.produce(transactional_batch(), transactional_batch())
    describe(both, TOPIC, 0, 1, 2, 3)
    for version in (0, 1):
        assert both.end(version=version) == []
        assert both.end(marker(), version=version) == []
        both.end(marker(0, 7), marker(0, topic="nowhere"), marker(1, pid=99), version=version)
        both.end(marker(0, epoch=-1), marker(1, pid=99), version=version)
        both.end(marker(0, pid=-1), version=version)
    assert both.end(marker(0, coordinator_epoch=3)) == [NONE]
    assert both.end(marker(0, coordinator_epoch=2)) == [ErrorCode.TRANSACTION_COORDINATOR_FENCED]
    assert both.end(marker(0, epoch=4, coordinator_epoch=3)) == [NONE]
    assert both.end(marker(0, epoch=3, coordinator_epoch=3)) == [ErrorCode.INVALID_PRODUCER_EPOCH]
    both.end(marker(2, pid=50, coordinator_epoch=-1), marker(2, pid=51, coordinator_epoch=-2))
    both.end(marker(0, pid=8), marker(1, pid=8), marker(0, pid=8, commit=False))
    assert both.end(marker(0, 1, topic="__consumer_offsets")) == [NONE, NONE]
    assert [each["error_code"] for each in describe(both, "nowhere", 0)] == [3]
    describe(both, "no spaces", 0, 1)
    describe(both, TOPIC, 0, 1, 2, 3, -1)


def test_epochs_and_sequences_within_transactions(both: Both) -> None:
    def write(sequence: int, *, epoch: int = 0, pid: int = 20, **rest: Any) -> tuple[int, int]:
        (told,) = both.produce(transactional_batch(sequence, pid=pid, epoch=epoch), **rest)
        return told

    begin = write(0)[1]
    assert write(0) == (NONE, begin)  # repeated
    assert write(5)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert write(1, epoch=1)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert write(0, epoch=1)[0] == NONE
    assert write(1)[0] == ErrorCode.INVALID_PRODUCER_EPOCH
    assert write(9, pid=21)[0] == NONE  # nothing is known of it
    for version in range(3, 12):
        write(9, pid=21, version=version)
        write(11, pid=21, version=version)
        write(0, version=version)
        write(0, pid=22, version=version, transactional_id=None)
    plain = bytes(
        encode_batch([Record(0, 1, None, b"v")], producer_id=20, producer_epoch=1, base_sequence=1)
    )
    assert both.produce(plain) == [(ErrorCode.INVALID_TXN_STATE, -1)]
    assert (
        both.produce(transactional_batch(pid=30), transactional_batch(pid=31))
        == [(ErrorCode.INVALID_PRODUCER_ID_MAPPING, -1)] * 2
    )
    both.end(marker(0, pid=20, epoch=1), marker(0, pid=21))


def test_readers_are_shown_the_same_transactions(both: Both) -> None:
    both.produce(transactional_batch(pid=40))
    both.produce(transactional_batch(pid=41))
    begin = latest(both, READ_COMMITTED)
    both.end(marker(0, pid=41, commit=False))
    for version in (4, 5, 11, 12):
        read(both, begin, READ_COMMITTED, version)
        read(both, begin, READ_UNCOMMITTED, version)
    for version in range(2, 9):
        assert latest(both, READ_COMMITTED, version) == begin
        assert latest(both, READ_UNCOMMITTED, version) == begin + 3
    both.end(marker(0, pid=40))
    assert latest(both, READ_COMMITTED) == begin + 4
    told = read(both, begin, READ_COMMITTED)
    assert [each["producer_id"] for each in told["aborted_transactions"]] == [41]


def test_what_is_written_must_be_known_to_the_coordinator(verifying: Both) -> None:
    def write(*batches: bytes, version: int = 11) -> list[int]:
        return [code for code, _ in verifying.produce(*batches, version=version)]

    def ask(request: Message, answer: type[Message], version: int) -> Any:
        """Once both coordinators have read their log."""
        for broker in (verifying.ours, verifying.kafka):
            wait_for(
                "coordinator that is ready",
                partial(broker.ask, request, answer, version),
                lambda told: not _PASSING & set(error_codes(told)),
            )
        return verifying.ask(request, answer, version)

    ask(FindCoordinatorRequest(key="t", key_type=1), FindCoordinatorResponse, 3)
    ask(DescribeTransactionsRequest(transactional_ids=["t"]), DescribeTransactionsResponse, 0)
    for version in (3, 10, 11):
        assert write(transactional_batch(), version=version) == [
            ErrorCode.INVALID_PRODUCER_ID_MAPPING
        ]
    begin = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=60_000)
    producer = ask(begin, InitProducerIdResponse, 4)
    batch = partial(
        transactional_batch, pid=producer["producer_id"], epoch=producer["producer_epoch"]
    )
    for version in (3, 10, 11):
        write(batch(), version=version)
    add = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="t",
        v3_and_below_producer_id=producer["producer_id"],
        v3_and_below_producer_epoch=producer["producer_epoch"],
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])],
    )
    ask(add, AddPartitionsToTxnResponse, 3)
    assert write(batch(), batch())[0] == NONE
    assert write(batch(1), batch(), version=10) == [NONE, ErrorCode.INVALID_TXN_STATE]
    assert write(batch(2), version=3) == [NONE]
    verifying.end(marker(0, pid=producer["producer_id"], epoch=producer["producer_epoch"]))
    assert write(batch(2)) == [NONE]  # repeated
    write(batch(3))
    write(transactional_batch(3, pid=producer["producer_id"], epoch=producer["producer_epoch"] - 1))


_PASSING = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}
