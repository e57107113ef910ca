"""Our producer, feature by feature: what it writes, ours and a real Kafka take, and give back."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from logquake.client import Consumer, Producer, TopicPartition
from logquake.client.aio import Producer as AioProducer
from logquake.client.errors import (
    BrokerError,
    ClosedError,
    DeliveryError,
    ProducerClosedError,
    RecordTooLargeError,
    SerializationError,
    TimedOutError,
)
from logquake.client.producer.appending.interceptors import ProducerInterceptor
from logquake.client.producer.delivery import RecordMetadata
from logquake.client.producer.hashing import partition_for
from logquake.client.producer.leaders import PartitionsOfTopic
from logquake.client.producer.record import Headers, ProducerRecord
from logquake.client.producer.statistics import EventKind, ProducerEvent
from logquake.client.sync.ranges import read_range
from logquake.cluster.api import Cluster
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode
from logquake.wire.records import Record
from logquake.wire.sentinels import UNKNOWN_OFFSET
from tests.compat.releases import KINDS, WITH_OLD, Releases, make_topic, releases
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.maven]

PARTITIONS = 3
MOST_BYTES = 50_000  # message.max.bytes of the brokers
PATIENCE_MS = int(PATIENCE_S * 1000)
NOW_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Place:
    """A topic that nobody has written to."""

    port: int
    topic: str

    def producer(self, **keys: Any) -> Producer:
        return Producer(self._config(), **keys)

    def aio_producer(self, **keys: Any) -> AioProducer:
        return AioProducer(self._config(), **keys)

    def _config(self) -> dict[str, object]:
        return {
            "bootstrap.servers": f"127.0.0.1:{self.port}",
            "request.timeout.ms": PATIENCE_MS,
            "delivery.timeout.ms": 2 * PATIENCE_MS,
        }

    def records(self, found: list[RecordMetadata]) -> dict[tuple[int, int], Record]:
        """What is there, by partition and offset, up to the last one of ``found``."""
        ends: dict[int, int] = {}
        for one in found:
            ends[one.partition] = max(ends.get(one.partition, 0), one.offset + 1)
        servers = f"127.0.0.1:{self.port}"
        with Consumer(bootstrap_servers=servers, request_timeout_ms=PATIENCE_MS) as consumer:
            return {
                (partition, record.offset): record
                for partition, end in ends.items()
                for batch in read_range(consumer, TopicPartition(self.topic, partition), 0, end)
                for record in batch.records
            }

    def values(self, found: list[RecordMetadata]) -> dict[tuple[int, int], bytes | None]:
        return {at: record.value for at, record in self.records(found).items()}


@pytest.fixture(scope="module")
def brokers(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Releases]:
    folder = tmp_path_factory.mktemp("produced")
    properties = {"log.retention.ms": -1, "num.partitions": 3, "message.max.bytes": MOST_BYTES}
    with releases(folder, cluster.zookeeper_connect, properties) as each:
        yield each


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return map("orders-{}".format, count())


@pytest.fixture(params=KINDS)
def place(brokers: Releases, names: Iterator[str], request: pytest.FixtureRequest) -> Place:
    twin = brokers[request.param]
    topic = next(names)
    make_topic(twin, topic, PARTITIONS)
    return Place(twin.port, topic)


# What is written


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("codec", list(Codec))
def test_each_record_is_where_it_was_said_to_be(
    place: Place, codec: Codec, idempotent: bool
) -> None:
    values = [b"%d " % index * 20 for index in range(300)]
    with place.producer(
        compression_type=codec, enable_idempotence=idempotent, batch_size=500, linger_ms=10_000
    ) as producer:
        futures = [producer.send(place.topic, value) for value in values]
        producer.flush()
        assert all(future.done() for future in futures)
    found = [future.result() for future in futures]
    assert len({one.partition for one in found}) > 1  # drawn some twenty times
    places = [(one.partition, one.offset) for one in found]
    assert place.values(found) == dict(zip(places, values, strict=True))


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
def test_a_record_keeps_its_key_time_and_headers(place: Place) -> None:
    headers = [("a", b"1"), ("a", None), ("b", b"")]
    with place.producer() as producer:
        whole = producer.send(place.topic, b"v", b"k", timestamp_ms=NOW_MS, headers=headers)
        empty = producer.send(place.topic, partition=1, timestamp_ms=NOW_MS)
        found = [whole.result(PATIENCE_S), empty.result(PATIENCE_S)]
    assert [(one.timestamp_ms, one.key_bytes, one.value_bytes) for one in found] == [
        (NOW_MS, 1, 1),
        (NOW_MS, -1, -1),
    ]
    records = place.records(found)
    assert records[found[0].partition, found[0].offset][1:] == (NOW_MS, b"k", b"v", tuple(headers))
    assert records[1, found[1].offset][1:] == (NOW_MS, None, None, ())


def test_who_wants_no_answer_is_told_no_place(place: Place) -> None:
    with place.producer(acks=0) as producer:
        assert producer.send(place.topic, b"gone").result(PATIENCE_S).offset == UNKNOWN_OFFSET


@pytest.mark.parametrize("acks", [1, "all"])
def test_one_in_flight_writes_in_order(place: Place, acks: object) -> None:
    with place.producer(
        acks=acks, max_in_flight_requests_per_connection=1, batch_size=0
    ) as producer:
        futures = [producer.send(place.topic, b"%d" % one, partition=0) for one in range(50)]
    assert [future.result().offset for future in futures] == [*range(50)]


def test_a_batch_that_is_too_large_is_split(place: Place) -> None:
    """Once, or again: as small as batch.size says, then record by record."""
    values = [b"%03d" % index + b"x" * 997 for index in range(90)]
    with place.producer(batch_size=45_000, linger_ms=10_000, max_request_size=100_000) as producer:
        futures = [producer.send(place.topic, value, partition=0) for value in values]
        producer.flush()
    found = [future.result() for future in futures]
    assert list(place.values(found).values()) == values


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
def test_after_one_that_is_refused_the_next_epoch_goes_on(place: Place) -> None:
    with place.producer(batch_size=2_000, linger_ms=10_000) as producer:
        for _ in range(3):
            before, refused, after = (
                producer.send(place.topic, value)
                for value in (b"before", b"x" * MOST_BYTES, b"after")
            )
            producer.flush()
            with pytest.raises(DeliveryError, match="MESSAGE_TOO_LARGE") as told:
                refused.result()
            assert not told.value.may_be_written
            assert before.exception() is None
            assert after.exception() is None


def test_many_threads_send_with_one_producer(place: Place) -> None:
    sent: dict[int, list[RecordMetadata]] = {}

    def send(thread: int, producer: Producer) -> None:
        values = [b"%d-%d" % (thread, index) for index in range(200)]
        futures = [producer.send(place.topic, value, partition=0) for value in values]
        sent[thread] = [future.result(PATIENCE_S) for future in futures]

    with place.producer(batch_size=1_000) as producer:
        threads = [threading.Thread(target=send, args=(one, producer)) for one in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for found in sent.values():
        assert [one.offset for one in found] == sorted(one.offset for one in found)
    written = place.values([one for found in sent.values() for one in found])
    assert len(written) == 800


# Where it goes


def test_a_key_goes_where_it_goes_from_java(place: Place) -> None:
    keys = [b"", b"a", b"abcd", "ünïcödé".encode(), b"a longer key than the others"]
    with place.producer() as producer:
        found = [producer.send(place.topic, b"v", key).result(PATIENCE_S) for key in keys]
    assert [one.partition for one in found] == [partition_for(key, PARTITIONS) for key in keys]


def test_keys_can_be_ignored(place: Place) -> None:
    with place.producer(partitioner_ignore_keys=True, linger_ms=10_000) as producer:
        futures = [producer.send(place.topic, b"v", b"%d" % one) for one in range(50)]
        producer.flush()
    assert len({future.result().partition for future in futures}) == 1


class LastPartition:
    """Notes that it is closed."""

    is_closed = False

    def partition(
        self, topic: str, key: bytes | None, value: bytes | None, partitions: PartitionsOfTopic
    ) -> int:
        assert (topic.startswith("orders"), key, value) == (True, b"k", b"v")
        return partitions.all[-1]

    def close(self) -> None:
        self.is_closed = True


def test_a_partitioner_of_the_programs_own(place: Place) -> None:
    last = LastPartition()
    with place.producer(partitioner=last) as producer:
        assert producer.send(place.topic, b"v", b"k").result(PATIENCE_S).partition == 2
        assert producer.send(place.topic, b"v", b"k", partition=0).result(PATIENCE_S).partition == 0
    assert last.is_closed


def test_what_is_known_of_a_topic(place: Place) -> None:
    with place.producer() as producer:
        told = producer.partitions_for(place.topic)
    assert [one.partition for one in told] == [0, 1, 2]
    for one in told:
        assert one.leader is not None
        assert one.leader.port == place.port
        assert one.replicas == one.in_sync == (one.leader,)
        assert one.offline == ()


@pytest.mark.parametrize("place", WITH_OLD, indirect=True)
def test_a_topic_is_made_when_it_is_written_to(place: Place) -> None:
    with place.producer() as producer:
        assert producer.send(f"{place.topic}-new", b"v").result(PATIENCE_S).offset == 0


def test_a_topic_of_an_impossible_name_is_refused_at_once(place: Place) -> None:
    with place.producer() as producer:
        told = producer.send("no topic!", b"v").exception(PATIENCE_S)
        assert isinstance(told, DeliveryError)
        assert isinstance(told.cause, BrokerError)
        assert told.cause.code is ErrorCode.INVALID_TOPIC_EXCEPTION
        with pytest.raises(BrokerError, match="INVALID_TOPIC_EXCEPTION"):
            producer.partitions_for("no topic!")


def test_a_partition_that_is_not_there_is_waited_for(place: Place) -> None:
    with place.producer(max_block_ms=300) as producer:
        producer.partitions_for(place.topic)
        told = producer.send(place.topic, b"v", partition=7).exception(PATIENCE_S)
    assert isinstance(told, DeliveryError)
    assert isinstance(told.cause, TimedOutError)
    assert "partition 7" in str(told)
    assert "which has 3" in str(told)


# What the program has a say in


class Upper:
    """Notes that it is closed."""

    is_closed = False

    def serialize(self, topic: str, headers: Headers, data: Any, /) -> bytes | None:
        return f"{topic[:6]} {len(headers)} {data}".upper().encode()

    def close(self) -> None:
        self.is_closed = True


def test_serializers_make_bytes(place: Place) -> None:
    upper = Upper()
    with place.producer(key_serializer=str.encode, value_serializer=upper) as producer:
        future = producer.send(place.topic, "value", "key", headers=[("h", b"")])
        found = future.result(PATIENCE_S)
        with pytest.raises(SerializationError, match="no bytes out of the key 7"):
            producer.send(place.topic, "value", 7)
    (record,) = place.records([found]).values()
    assert (record.key, record.value) == (b"key", b"ORDERS 1 VALUE")
    assert upper.is_closed


def test_without_a_serializer_only_bytes_are_taken(place: Place) -> None:
    with place.producer() as producer:
        with pytest.raises(SerializationError, match="value_serializer"):
            producer.send(place.topic, "text")
        found = producer.send(place.topic, bytearray(b"ab")).result(PATIENCE_S)
    assert list(place.values([found]).values()) == [b"ab"]


class Stamping(ProducerInterceptor):
    def __init__(self) -> None:
        self.told: list[tuple[int, str | None]] = []
        self.is_closed = False

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        return record._replace(headers=[*record.headers, ("stamp", b"1")])

    def on_acknowledgement(self, metadata: RecordMetadata, error: Exception | None) -> None:
        self.told.append((metadata.partition, type(error).__name__ if error else None))

    def close(self) -> None:
        self.is_closed = True


class Failing(ProducerInterceptor):
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        raise LookupError(record.topic)

    def on_acknowledgement(self, metadata: RecordMetadata, error: Exception | None) -> None:
        raise LookupError(metadata.topic) from error


def test_interceptors_see_each_record_and_its_fate(place: Place) -> None:
    stamping = Stamping()
    with place.producer(interceptors=[Failing(), stamping], max_request_size=9_000) as producer:
        found = producer.send(place.topic, b"v", partition=2).result(PATIENCE_S)
        producer.flush()
        producer.send(place.topic, b"x" * 10_000, partition=1)
        with pytest.raises(SerializationError):
            producer.send(place.topic, 7)
    assert place.records([found])[2, 0].headers == (("stamp", b"1"),)
    assert stamping.told == [(2, None), (1, "DeliveryError"), (-1, "SerializationError")]
    assert stamping.is_closed


def test_callbacks_come_in_order_on_one_thread_before_a_flush_ends(place: Place) -> None:
    told: defaultdict[int, list[int]] = defaultdict(list)
    threads: set[str] = set()

    def on_delivery(metadata: RecordMetadata, error: Exception | None) -> None:
        assert error is None
        told[metadata.partition].append(metadata.offset)
        threads.add(threading.current_thread().name)

    with place.producer(batch_size=500, client_id="mine") as producer:
        for _ in range(300):
            producer.send(place.topic, b"v" * 20, on_delivery=on_delivery)
        producer.flush()
        assert sum(map(len, told.values())) == 300
    for offsets in told.values():
        assert offsets == [*range(len(offsets))]
    assert threads == {"kafka-producer-network-thread | mine"}


def test_a_callback_may_send_and_one_that_raises_harms_nobody(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[RecordMetadata] = []

    def send_another(_metadata: RecordMetadata, _error: Exception | None) -> None:
        producer.send(place.topic, b"2", partition=0, on_delivery=lambda at, _: told.append(at))
        raise LookupError("mine")

    with place.producer() as producer:
        producer.send(place.topic, b"1", partition=0, on_delivery=send_another)
        wait_for("the second one", lambda: told)
    assert told[0].offset == 1
    assert "LookupError: mine" in caplog.text


# How much it takes, and how long


def test_what_is_more_than_a_request_is_refused_without_asking(place: Place) -> None:
    told: list[tuple[RecordMetadata, Exception | None]] = []
    with place.producer(max_request_size=1_000) as producer:
        future = producer.send(
            place.topic, b"x" * 1_000, on_delivery=lambda *each: told.append(each)
        )
        assert future.done()
    error = future.exception()
    assert isinstance(error, DeliveryError)
    assert isinstance(error.cause, RecordTooLargeError)
    assert "max.request.size=1000" in str(error)
    assert told == [(RecordMetadata(place.topic, -1, UNKNOWN_OFFSET, -1, -1, -1), error)]


def test_memory_that_is_used_up_is_waited_for(place: Place) -> None:
    with place.producer(batch_size=1_000, buffer_memory=3_000, linger_ms=10_000) as producer:
        futures = [producer.send(place.topic, b"x" * 500) for _ in range(200)]
    assert all(future.exception() is None for future in futures)


def test_what_is_there_is_written_on_close_and_nothing_is_taken_then(place: Place) -> None:
    producer = place.producer(linger_ms=10_000)
    futures = [producer.send(place.topic, b"v") for _ in range(10)]
    producer.close()
    producer.close()
    assert all(future.exception() is None for future in futures)
    with pytest.raises(ClosedError):
        producer.send(place.topic, b"late")
    with pytest.raises(ClosedError):
        producer.flush()


def test_what_has_no_time_to_be_written_has_failed_on_close(place: Place) -> None:
    told: list[str] = []
    producer = place.producer(linger_ms=10_000)
    producer.partitions_for(place.topic)
    future = producer.send(
        place.topic, b"v", on_delivery=lambda _, error: told.append(type(error).__name__)
    )
    producer.close(timeout_ms=0)
    error = future.exception(0)
    assert isinstance(error, DeliveryError)
    assert isinstance(error.cause, ProducerClosedError)
    assert told == ["DeliveryError"]


def test_a_producer_may_be_closed_in_a_callback(place: Place) -> None:
    producer = place.producer()
    closed = threading.Event()

    def close(_metadata: RecordMetadata, _error: Exception | None) -> None:
        producer.close()
        closed.set()

    producer.send(place.topic, b"v", on_delivery=close)
    assert closed.wait(PATIENCE_S)
    with pytest.raises(ClosedError):
        producer.send(place.topic, b"late")


# What it tells of itself


def test_what_it_has_done_is_told_by_kafkas_names(place: Place) -> None:
    with place.producer(batch_size=1_000, linger_ms=10_000, compression_type="gzip") as producer:
        for _ in range(100):
            producer.send(place.topic, b"v" * 50)
        producer.flush()
        told = producer.metrics()
    mine, topic = told["producer-metrics"], told[f"producer-topic-metrics:{place.topic}"]
    assert mine["record-send-total"] == topic["record-send-total"] == 100
    assert mine["record-error-total"] == mine["record-retry-total"] == mine["waiting-threads"] == 0
    assert mine["batch-size-avg"] <= mine["batch-size-max"] <= 1_000
    assert 0 < mine["compression-rate-avg"] < 1
    assert mine["request-latency-avg"] <= mine["request-latency-max"]
    assert mine["buffer-available-bytes"] == mine["buffer-total-bytes"]
    assert mine["requests-in-flight"] == 0
    assert mine["connection-count"] >= 1


def test_what_is_not_as_it_should_be_is_told_with_its_cause(place: Place) -> None:
    events: list[ProducerEvent] = []
    with place.producer(
        batch_size=45_000, linger_ms=10_000, max_request_size=200_000, on_event=events.append
    ) as producer:
        producer.send(place.topic, b"small", partition=0)
        producer.flush()
        producer.send(place.topic, b"x" * 2 * MOST_BYTES, partition=0)
        producer.flush()
        errors = producer.metrics()["producer-metrics"]["record-error-total"]
    assert errors == 1
    (event,) = events
    assert event[:3] == (EventKind.FAILED, (place.topic, 0), 1)
    assert "MESSAGE_TOO_LARGE" in event.cause


# On asyncio's loop


def test_the_same_on_a_loop(place: Place) -> None:
    values = [b"%d " % index * 20 for index in range(300)]
    told: list[int] = []

    async def write() -> list[RecordMetadata]:
        async with place.aio_producer(batch_size=2_000, compression_type="zstd") as producer:
            assert len(await producer.partitions_for(place.topic)) == PARTITIONS
            futures = [
                await producer.send(
                    place.topic, value, on_delivery=lambda at, _: told.append(at.offset)
                )
                for value in values
            ]
            await producer.flush()
            assert len(told) == len(values)
            return await asyncio.gather(*futures)

    found = asyncio.run(write())
    places = [(one.partition, one.offset) for one in found]
    assert place.values(found) == dict(zip(places, values, strict=True))


def test_many_tasks_wait_for_memory_on_a_loop(place: Place) -> None:
    async def write() -> None:
        async with place.aio_producer(batch_size=1_000, buffer_memory=3_000) as producer:

            async def write_some() -> None:
                for _ in range(20):
                    await (await producer.send(place.topic, b"x" * 500))

            await asyncio.gather(*(write_some() for _ in range(20)))

    asyncio.run(write())


def test_a_producer_on_a_loop_is_closed_with_and_without_time(place: Place) -> None:
    async def write() -> None:
        producer = place.aio_producer(linger_ms=10_000)
        written = await producer.send(place.topic, b"v")
        await producer.close()
        assert (await written).offset == 0
        producer = place.aio_producer(linger_ms=10_000)
        failed = await producer.send(place.topic, b"v")
        await producer.close(timeout_ms=0)
        with pytest.raises(DeliveryError, match="closed"):
            await failed
        with pytest.raises(ClosedError):
            await producer.send(place.topic, b"late")
        await producer.close()

    asyncio.run(write())


def test_a_close_that_is_cancelled_has_ended_the_producer(place: Place) -> None:
    async def write() -> None:
        producer = place.aio_producer(linger_ms=10_000)
        await producer.partitions_for(place.topic)
        sent = await producer.send(place.topic, b"v")
        closing = asyncio.create_task(producer.close())
        await asyncio.sleep(0)  # it waits for an answer of the broker's now
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        with pytest.raises(DeliveryError, match="closed before the record was written"):
            await sent
        with pytest.raises(ClosedError):
            await producer.send(place.topic, b"late")

    asyncio.run(write())
