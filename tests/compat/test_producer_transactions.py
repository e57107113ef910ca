"""Transactions of our producer, feature by feature: ours and a real Kafka say the same of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from logquake.client import Admin, Producer
from logquake.client.aio import Producer as AioProducer
from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.errors import (
    ClosedError,
    CommitFailedError,
    DeliveryError,
    ProducerFencedError,
    RecordTooLargeError,
    TimedOutError,
    TransactionAbortedError,
    TransactionFailedError,
    TransactionStateError,
)
from logquake.client.producer.delivery import RecordMetadata
from logquake.cluster.api import Cluster
from logquake.wire.topic_partition import TopicPartition
from tests.compat.adapters.librdkafka import read_to_end
from tests.compat.adapters.workers import A_TRANSACTION, OurWorker
from tests.compat.releases import KINDS, WITH_OLD, Releases, make_topic, releases
from tests.compat.twins import Twin
from tests.one_broker import held_ports
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.maven]

PARTITIONS = 2
MOST_BYTES = 50_000  # message.max.bytes of the brokers
PATIENCE_MS = int(PATIENCE_S * 1000)
PROPERTIES = {
    "log.retention.ms": -1,
    "message.max.bytes": MOST_BYTES,
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 1,
}


@dataclass(frozen=True)
class Place:
    """A topic that nobody has written to, and producers, which end with the test."""

    twin: Twin
    topic: str
    opened: ExitStack = field(default_factory=ExitStack)

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.twin.port}"

    def producer(self, name: str = "one", **keys: Any) -> Producer:
        """It has begun."""
        producer = Producer(self.config(name), **keys)
        self.opened.callback(producer.close, 0)
        producer.init_transactions()
        producer.begin_transaction()
        return producer

    def config(self, name: str) -> dict[str, object]:
        return {
            "bootstrap.servers": self.servers,
            "transactional.id": f"{self.topic}-{name}",
            "max.block.ms": PATIENCE_MS,
            "request.timeout.ms": PATIENCE_MS,
            "delivery.timeout.ms": 2 * PATIENCE_MS,
        }

    def group(self, **member: Any) -> ConsumerGroupMetadata:
        return ConsumerGroupMetadata(f"{self.topic}-readers", **member)

    def committed_offsets(self) -> dict[TopicPartition, tuple[int, str]]:
        """Once no transaction can change them: offset and metadata."""
        asked = {self.group().group_id: None}
        with Admin(bootstrap_servers=self.servers, request_timeout_ms=PATIENCE_MS) as admin:
            told = admin.list_consumer_group_offsets(asked, require_stable=True)
            (found,) = (each.result() for each in told.values())
        return {place: (one.offset, one.metadata) for place, one in found.items() if one}

    def committed(self, *values: bytes, partition: int = 0) -> None:
        """Markers follow the answer to a commit."""
        wait_for(
            f"{list(values)} in partition {partition}",
            lambda: read_to_end(self.servers, self.topic, partition, "read_committed"),
            lambda found: found == list(values),
        )


@pytest.fixture(scope="module")
def brokers(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Releases]:
    folder = tmp_path_factory.mktemp("transactions")
    with releases(folder, cluster.zookeeper_connect, PROPERTIES) as each:
        yield each


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return map("orders-{}".format, count())


@pytest.fixture(params=KINDS)
def place(
    brokers: Releases, names: Iterator[str], request: pytest.FixtureRequest
) -> Iterator[Place]:
    twin = brokers[request.param]
    topic = next(names)
    make_topic(twin, topic, PARTITIONS)
    place = Place(twin, topic)
    with place.opened:
        yield place


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
def test_what_is_committed_counts_and_what_is_aborted_does_not(place: Place) -> None:
    producer = place.producer(linger_ms=PATIENCE_MS)
    for value in (b"first", b"last"):
        for partition in range(PARTITIONS):
            producer.send(place.topic, value, partition=partition)
    producer.commit_transaction()
    producer.begin_transaction()
    given_up = producer.send(place.topic, b"given up", partition=0)
    producer.abort_transaction()
    producer.begin_transaction()
    producer.send(place.topic, b"next", partition=0)
    producer.commit_transaction()
    waited = producer.metrics()["producer-metrics"]
    assert waited["txn-commit-time-ns-total"] >= 0
    assert waited.keys() >= {"txn-init-time-ns-total", "txn-abort-time-ns-total"}
    place.committed(b"first", b"last", b"next")
    place.committed(b"first", b"last", partition=1)
    error = given_up.exception()
    assert isinstance(error, DeliveryError)
    assert isinstance(error.cause, TransactionAbortedError)


def test_callbacks_are_called_before_a_commit_returns(place: Place) -> None:
    producer = place.producer()
    told: list[RecordMetadata] = []
    for _ in range(100):
        producer.send(
            place.topic, b"v", partition=0, on_delivery=lambda metadata, _: told.append(metadata)
        )
    producer.commit_transaction()
    assert [metadata.offset for metadata in told] == list(range(100))


def test_a_groups_offsets_count_with_the_records(place: Place) -> None:
    producer = place.producer()
    read = TopicPartition(place.topic, 1)
    producer.send_offsets_to_transaction({read: OffsetAndMetadata(17, 3, "noted")}, place.group())
    producer.abort_transaction()
    assert place.committed_offsets() == {}
    producer.begin_transaction()
    producer.send_offsets_to_transaction({read: OffsetAndMetadata(4)}, place.group())
    producer.send_offsets_to_transaction({read: OffsetAndMetadata(5, 0, "noted")}, place.group())
    producer.send_offsets_to_transaction({}, place.group())
    producer.commit_transaction()
    assert place.committed_offsets() == {read: (5, "noted")}


def test_a_member_that_the_group_does_not_know_commits_nothing(place: Place) -> None:
    """KIP-447."""
    producer = place.producer()
    producer.send(place.topic, b"taken by another", partition=0)
    who = place.group(generation_id=3, member_id="gone")
    with pytest.raises(TransactionFailedError) as refused:
        producer.send_offsets_to_transaction(
            {TopicPartition(place.topic, 0): OffsetAndMetadata(1)}, who
        )
    assert isinstance(refused.value.cause, CommitFailedError)
    with pytest.raises(TransactionFailedError):
        producer.commit_transaction()
    producer.abort_transaction()
    producer.begin_transaction()
    producer.send(place.topic, b"goes on", partition=0)
    producer.commit_transaction()
    place.committed(b"goes on")
    with pytest.raises(TransactionStateError, match="no member"):
        producer.send_offsets_to_transaction({}, place.group(generation_id=3))


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
def test_whoever_takes_the_id_fences_who_had_it(place: Place) -> None:
    first = place.producer()
    first.send(place.topic, b"torn", partition=0).result(PATIENCE_S)
    second = place.producer()
    with pytest.raises(ProducerFencedError):
        first.commit_transaction()
    for call in (first.begin_transaction, first.abort_transaction, first.init_transactions):
        with pytest.raises(ProducerFencedError):
            call()
    with pytest.raises(ProducerFencedError):
        first.send(place.topic, b"never")
    second.send(place.topic, b"whole", partition=0)
    second.commit_transaction()
    place.committed(b"whole")


def test_a_record_that_is_refused_fails_the_transaction_not_the_producer(place: Place) -> None:
    """Those after it have sequences of the next epoch (KIP-360)."""
    producer = place.producer(max_request_size=10 * MOST_BYTES)
    for turn in range(2):
        producer.send(place.topic, b"before", partition=0).result(PATIENCE_S)
        refused = producer.send(place.topic, b"x" * 2 * MOST_BYTES, partition=0)
        assert "MESSAGE_TOO_LARGE" in str(refused.exception(PATIENCE_S))
        with pytest.raises(TransactionFailedError, match="MESSAGE_TOO_LARGE"):
            producer.commit_transaction()
        producer.abort_transaction()
        producer.begin_transaction()
        producer.send(place.topic, b"%d" % turn, partition=0)
        producer.commit_transaction()
        producer.begin_transaction()
    place.committed(b"0", b"1")


def test_a_record_that_was_not_taken_fails_the_transaction_too(place: Place) -> None:
    producer = place.producer(max_request_size=1_000)
    refused = producer.send(place.topic, b"x" * 2_000)
    error = refused.exception(PATIENCE_S)
    assert isinstance(error, DeliveryError)
    assert isinstance(error.cause, RecordTooLargeError)
    with pytest.raises(TransactionFailedError):
        producer.send(place.topic, b"after it")
    producer.abort_transaction()
    producer.begin_transaction()
    producer.send(place.topic, b"goes on", partition=0)
    producer.commit_transaction()
    place.committed(b"goes on")


def test_a_transaction_with_nothing_in_it_ends(place: Place) -> None:
    producer = place.producer()
    producer.commit_transaction()
    producer.begin_transaction()
    producer.abort_transaction()
    producer.begin_transaction()


def test_calls_at_the_wrong_time_change_nothing(place: Place) -> None:
    producer = place.producer()
    with pytest.raises(TransactionStateError):
        producer.init_transactions()
    with pytest.raises(TransactionStateError):
        producer.begin_transaction()
    producer.send(place.topic, b"v", partition=0)
    producer.commit_transaction()
    for call in (producer.commit_transaction, producer.abort_transaction):
        with pytest.raises(TransactionStateError):
            call()
    with pytest.raises(TransactionStateError):
        producer.send(place.topic, b"outside", partition=0)
    place.committed(b"v")


def test_a_with_block_commits_at_its_end_or_aborts(place: Place) -> None:
    producer = place.producer()
    producer.abort_transaction()
    with producer.transaction():
        producer.send(place.topic, b"v", partition=0)
    with suppress(ZeroDivisionError), producer.transaction():
        producer.send(place.topic, b"given up", partition=0)
        raise ZeroDivisionError
    with producer.transaction():
        producer.send(place.topic, b"next", partition=0)
    place.committed(b"v", b"next")
    place.producer()
    with pytest.raises(ProducerFencedError), producer.transaction():
        producer.send(place.topic, b"zombie", partition=0)


def test_who_closes_aborts_what_is_open(place: Place) -> None:
    """Else readers of committed records would wait for its time-out."""
    producer = place.producer()
    producer.send(place.topic, b"open", partition=0)
    producer.close()
    other = place.producer("other")
    other.send(place.topic, b"v", partition=0)
    other.commit_transaction()
    place.committed(b"v")
    with pytest.raises(ClosedError):
        producer.begin_transaction()


def test_what_is_taken_of_another_topic_is_there_once(place: Place) -> None:
    """Though who takes it dies amid a transaction (KIP-447)."""
    source, group = f"{place.topic}-source", place.group().group_id
    assert place.twin.create(source) == ("NONE", None)
    values = [b"%d" % number for number in range(30)]
    writer = place.producer("writer")
    for value in values:
        writer.send(source, value, partition=0)
    writer.commit_transaction()

    def worker() -> OurWorker:
        worker = OurWorker(place.servers, f"{group}-w", group, source, place.topic)
        place.opened.callback(worker.close)
        return worker

    first = worker()
    assert wait_for("first transaction", first.step) == A_TRANSACTION
    first.write(wait_for("records of the second", first.take))
    first.leave()
    second = worker()
    with pytest.raises(ProducerFencedError):
        first.commit()
    for _ in range(2):
        assert wait_for("transaction", second.step) == A_TRANSACTION
    place.committed(*values)
    assert place.committed_offsets()[TopicPartition(source, 0)][0] >= len(values)


def test_on_asyncios_loop(place: Place) -> None:
    read = TopicPartition(place.topic, 1)

    async def program() -> None:
        config = place.config("aio")
        async with AioProducer(config) as producer:
            await producer.init_transactions()
            await producer.begin_transaction()
            await producer.send(place.topic, b"given up", partition=0)
            await producer.abort_transaction()
            async with producer.transaction():
                await producer.send(place.topic, b"v", partition=0)
                offsets = {read: OffsetAndMetadata(5)}
                await producer.send_offsets_to_transaction(offsets, place.group())
            async with AioProducer(config) as other:
                await other.init_transactions()
                await producer.begin_transaction()
                await producer.send(place.topic, b"zombie", partition=0)
                with pytest.raises(ProducerFencedError):
                    await producer.commit_transaction()

    asyncio.run(asyncio.wait_for(program(), PATIENCE_S))
    place.committed(b"v")
    assert place.committed_offsets() == {read: (5, "")}


def test_what_takes_too_long_can_be_called_again() -> None:
    with held_ports(1) as (port,):
        config = {"bootstrap.servers": f"127.0.0.1:{port}", "transactional.id": "one"}
        with Producer(config, max_block_ms=100) as producer:
            for _ in range(2):
                with pytest.raises(TimedOutError, match="init_transactions"):
                    producer.init_transactions()
            with pytest.raises(TransactionStateError, match="init_transactions"):
                producer.begin_transaction()


def test_without_an_id_there_are_none() -> None:
    with held_ports(1) as (port,), Producer(bootstrap_servers=f"127.0.0.1:{port}") as producer:
        for call in (producer.init_transactions, producer.begin_transaction):
            with pytest.raises(TransactionStateError, match=r"transactional\.id"):
                call()
