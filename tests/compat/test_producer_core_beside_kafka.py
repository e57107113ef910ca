"""What our producer's core writes over sockets, ours and a real Kafka take, and give back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from random import Random

import pytest

from logquake.client.clock import SystemClock
from logquake.client.driving.blocking import BlockingDriver
from logquake.client.driving.sockets import SelectorSockets
from logquake.client.errors import ClientError, DeliveryError
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.producer.accumulator import Accumulator, Appended
from logquake.client.producer.delivery import Delivery, RecordMetadata
from logquake.client.producer.idempotence import Idempotence
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.sender import Sender
from logquake.client.producer.settings import BatchingSettings, SendingSettings
from logquake.client.reader import PartitionReader
from logquake.client.routing import Router
from logquake.client.settings import ClientSettings
from logquake.cluster.api import Cluster
from logquake.wire.compression import Codec
from logquake.wire.records import Record
from logquake.wire.sentinels import ACKS_ALL, UNKNOWN_OFFSET
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.twins import Twin, twins_of
from tests.waiting import PATIENCE_S

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

    @property
    def settings(self) -> ClientSettings:
        return ClientSettings(f"127.0.0.1:{self.port}", request_timeout_ms=PATIENCE_MS)


class WholeProducer:
    """The core, driven by the test."""

    def __init__(
        self,
        place: Place,
        batching: BatchingSettings,
        *,
        acks: int = ACKS_ALL,
        idempotent: bool = True,
    ) -> None:
        client, self._topic = place.settings, place.topic
        self._clock, random = SystemClock(), Random(7)
        numbering = Idempotence() if idempotent else Unnumbered()
        self._accumulator = Accumulator(batching, numbering, random)
        self._metadata = Metadata(client.metadata(), client.addresses(), random)
        links = Links(client.network(), random, on_ended=self._metadata.request_update)
        network = NetworkClient(client.network(), links, self._metadata, random)
        updates = MetadataUpdates(client.metadata(), network, self._metadata)
        sending = SendingSettings(acks=acks, request_timeout_ms=PATIENCE_MS)
        self._sender = Sender(
            sending, batching, self._accumulator, network, self._metadata, updates, numbering
        )
        self._driver = BlockingDriver(links, SelectorSockets(self._clock), self._clock)
        self._metadata.use(self._topic, self._clock.now_ms())
        assert self._run(self._knows_leaders)

    def close(self) -> None:
        self._driver.close()

    def _knows_leaders(self) -> bool:
        partitions = self._sender.leaders().topics.get(self._topic)
        return partitions is not None and len(partitions.available) == PARTITIONS

    def append(self, value: bytes) -> Delivery:
        appended = self._accumulator.append(
            self._topic,
            None,
            Record(0, NOW_MS, b"key", value, (("h", b"1"),)),
            self._sender.leaders(),
            self._clock.now_ms(),
        )
        assert isinstance(appended, Appended)
        return appended.delivery

    def flush(self) -> None:
        flush = self._accumulator.flush()
        assert self._run(lambda: flush.is_done)

    def _run(self, is_done: Callable[[], bool]) -> bool:
        return self._driver.run(self._sender, is_done, self._clock.now_ms() + PATIENCE_MS)


@pytest.fixture(scope="module")
def twins(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Twin, Twin]]:
    folder = tmp_path_factory.mktemp("produced")
    properties = {"log.retention.ms": -1, "num.partitions": 3, "message.max.bytes": MOST_BYTES}
    with twins_of(Twin, kafka_programs, cluster.zookeeper_connect, folder, properties) as both:
        yield both


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return map("orders-{}".format, count())


@pytest.fixture(params=["ours", "kafkas"])
def place(twins: tuple[Twin, Twin], names: Iterator[str], request: pytest.FixtureRequest) -> Place:
    twin = twins[request.param == "kafkas"]
    topic = next(names)
    assert twin.create(topic, PARTITIONS) == ("NONE", None)
    return Place(twin.port, topic)


def read_back(place: Place, found: list[RecordMetadata]) -> dict[tuple[int, int], bytes | None]:
    """What is at each place that a record was said to be at."""
    ends: dict[int, int] = {}
    for one in found:
        ends[one.partition] = max(ends.get(one.partition, 0), one.offset + 1)
    with Router(place.settings) as router:
        return {
            (partition, record.offset): record.value
            for partition, end in ends.items()
            for record in PartitionReader(router, place.topic, partition, 0, end).records()
        }


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("codec", list(Codec))
def test_each_record_is_where_it_was_said_to_be(
    place: Place, codec: Codec, idempotent: bool
) -> None:
    values = [b"%d " % index * 20 for index in range(300)]
    batching = BatchingSettings(batch_bytes=2_000, linger_ms=10_000, codec=codec)
    producer = WholeProducer(place, batching, idempotent=idempotent)
    with closing(producer):
        deliveries = [producer.append(value) for value in values]
        producer.flush()
    found = [one.outcome for one in deliveries if isinstance(one.outcome, RecordMetadata)]
    assert len({one.partition for one in found}) > 1
    places = [(one.partition, one.offset) for one in found]
    assert read_back(place, found) == dict(zip(places, values, strict=True))


def test_after_one_that_is_refused_the_next_epoch_goes_on(place: Place) -> None:
    batching = BatchingSettings(batch_bytes=2_000, linger_ms=10_000)
    producer = WholeProducer(place, batching)
    with closing(producer):
        for _ in range(3):
            before, refused, after = (
                producer.append(value) for value in (b"before", b"x" * MOST_BYTES, b"after")
            )
            producer.flush()
            assert isinstance(refused.outcome, DeliveryError)
            assert "MESSAGE_TOO_LARGE" in str(refused.outcome)
            assert isinstance(before.outcome, RecordMetadata), before.outcome
            assert isinstance(after.outcome, RecordMetadata), after.outcome


def test_who_wants_no_answer_is_told_no_place(place: Place) -> None:
    producer = WholeProducer(place, BatchingSettings(), acks=0, idempotent=False)
    with closing(producer):
        delivery = producer.append(b"gone")
        producer.flush()
    assert not isinstance(delivery.outcome, ClientError | None)
    assert delivery.outcome.offset == UNKNOWN_OFFSET
