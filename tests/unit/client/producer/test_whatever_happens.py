"""Whatever becomes of requests: each record that is told written is there once, where it was said
to be, in the order of the sends; one that is told not to be written is not. Given time, all are
written that are not at fault themselves.

The broker is a model of what Kafka's does with sequences (ProducerAppendInfo): one log a partition.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import pytest

from logquake.client.errors import DeliveryError
from logquake.client.network.effects import Close, Effect, Write
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata, MetadataSettings
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import RECORDS, Appended
from logquake.client.producer.delivery import Delivery, RecordMetadata
from logquake.client.producer.idempotence.idempotence import Idempotence
from logquake.client.producer.sender import Sender
from logquake.client.producer.settings import BatchingSettings, SendingSettings
from logquake.client.producer.transactions.transactions import Transactions
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader
from logquake.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from logquake.wire.messages.transactions import InitProducerIdResponse
from logquake.wire.records import BatchHeader, Record, iterate_records, read_header
from logquake.wire.schema import Message
from logquake.wire.sentinels import UNKNOWN_OFFSET
from tests.doubles.link_bytes import asked, tell
from tests.doubles.willing_links import carry_out
from tests.parts import joined
from tests.unit.client.cluster_in_memory import all_versions

BROKER = 1
PARTITIONS = 2
SENT = 60
PASSES = 5_000
REFUSALS = [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_ENOUGH_REPLICAS]
AT_FAULT = (b"17", b"31", b"32")  # values that begin with it: a broker takes none of their batches
LONG_MS, SHORT_MS = 600_000, 1_200
REMEMBERED = 5  # batches of a producer that a broker knows again


class Remembered(NamedTuple):
    epoch: int
    first: int
    last: int
    offset: int


@dataclass
class PartitionLog:
    values: list[bytes | None] = field(default_factory=list)
    producers: defaultdict[int, deque[Remembered]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=REMEMBERED))
    )

    def append(self, header: BatchHeader, values: list[bytes | None]) -> tuple[ErrorCode, int]:
        known = self.producers[header.producer_id]
        first, last = header.base_sequence, header.base_sequence + header.record_count - 1
        for one in known:
            if (one.epoch, one.first, one.last) == (header.producer_epoch, first, last):
                return ErrorCode.NONE, one.offset
        newest = known[-1] if known else Remembered(-1, -1, -1, UNKNOWN_OFFSET)
        if header.producer_epoch < newest.epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH, UNKNOWN_OFFSET
        expected = newest.last + 1 if header.producer_epoch == newest.epoch else 0
        if first != expected:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_OFFSET
        offset = len(self.values)
        self.values += values
        known.append(Remembered(header.producer_epoch, first, last, offset))
        return ErrorCode.NONE, offset


class Run:
    """One broker, and a network that loses connections before and behind it."""

    def __init__(self, seed: int, delivery_timeout_ms: int) -> None:
        self._random = Random(seed)
        self.now_ms = 0
        self.logs = [PartitionLog() for _ in range(PARTITIONS)]
        self.sent: list[tuple[int, bytes, Delivery]] = []
        self._waiting: deque[tuple[int, RequestHeader, Message]] = deque()
        self.is_calm = False
        batching = BatchingSettings(
            batch_bytes=200, linger_ms=5, delivery_timeout_ms=delivery_timeout_ms
        )
        numbering = self.new_numbering()
        self._accumulator = Accumulator(batching, numbering, self._random)
        network = NetworkSettings(request_timeout_ms=1_000)
        self._links = Links(network, self._random, on_ended=self._on_ended)
        self._metadata = Metadata(MetadataSettings(), [(f"broker-{BROKER}", 1)], self._random)
        client = NetworkClient(network, self._links, self._metadata, self._random)
        self._sender = Sender(
            SendingSettings(request_timeout_ms=1_000),
            batching,
            self._accumulator,
            client,
            self._metadata,
            MetadataUpdates(MetadataSettings(), client, self._metadata),
            numbering,
        )
        self._metadata.use("t", 0)

    def new_numbering(self) -> Idempotence | Transactions:
        return Idempotence()

    def play(self) -> None:
        for index in range(SENT):
            self._append(b"%d" % index)
            for _ in range(self._random.randrange(4)):
                self._something_happens()
        self.is_calm = True
        self._wait_until(lambda: self._sender.is_idle)

    def _wait_until(self, is_so: Callable[[], bool]) -> None:
        for _ in range(PASSES):
            if is_so():
                return
            self._something_happens()
        raise AssertionError("it never ends")

    def _append(self, value: bytes) -> None:
        partition = self._random.randrange(PARTITIONS)
        appended = self._accumulator.append(
            RECORDS,
            "t",
            partition,
            Record(0, 0, None, value * 15),
            self._sender.leaders(),
            self.now_ms,
        )
        assert isinstance(appended, Appended)
        self.sent.append((partition, value * 15, appended.delivery))

    def _something_happens(self) -> None:
        if self._waiting and self._random.random() < 0.5:
            self._answer_one()
        else:
            self.now_ms += self._random.choice([1, 5, 50, 200])
        self._go_on()

    def _answer_one(self) -> None:
        link, header, request = self._waiting.popleft()
        chance = 1.0 if self.is_calm else self._random.random()
        if chance < 0.1:
            self._lose(link)
        elif chance < 0.2:
            self._apply(request, is_refused=False)
            self._lose(link)
        else:
            said = self._apply(request, is_refused=chance < 0.3)
            self._tell(link, header, _lacking_replicas(said) if 0.3 < chance < 0.4 else said)

    def _apply(self, request: Message, *, is_refused: bool) -> Message:
        assert isinstance(request, ProduceRequest)
        refusal = self._random.choice(REFUSALS) if is_refused else None
        parts = []
        for data in request.topic_data[0].partition_data:
            assert data.records is not None
            view = memoryview(joined([data.records]))
            header = read_header(view, 0)
            values = [record.value for record in iterate_records(view, 0, header, 10_000)]
            if refusal is not None:
                code, offset = refusal, UNKNOWN_OFFSET
            else:
                code, offset = self._take(data.index, header, values)
            parts.append(
                PartitionProduceResponse(index=data.index, error_code=code, base_offset=offset)
            )
        return ProduceResponse(
            responses=[TopicProduceResponse(name="t", partition_responses=parts)]
        )

    def _take(
        self, partition: int, header: BatchHeader, values: list[bytes | None]
    ) -> tuple[ErrorCode, int]:
        if any((value or b"").startswith(AT_FAULT) for value in values):
            return ErrorCode.INVALID_RECORD, UNKNOWN_OFFSET
        return self._write_to(partition, header, values)

    def _write_to(
        self, partition: int, header: BatchHeader, values: list[bytes | None]
    ) -> tuple[ErrorCode, int]:
        return self.logs[partition].append(header, values)

    def _lose(self, link: int) -> None:
        self._links.lost(link, "reset by peer", self.now_ms)
        self._waiting = deque(each for each in self._waiting if each[0] != link)

    def _on_ended(self) -> None:
        self._metadata.request_update()

    def _go_on(self) -> None:
        for _ in range(PASSES):
            self._sender.poll(self.now_ms)
            effects = self._links.take_effects()
            if not effects:
                return
            for effect in effects:
                self._do(effect)

    def _do(self, effect: Effect) -> None:
        carry_out(effect, self._links, self.now_ms, self._write, self._closes)

    def _closes(self, effect: Close) -> None:
        self._waiting = deque(each for each in self._waiting if each[0] != effect.link)

    def _write(self, effect: Write) -> None:
        header, request = asked(effect)
        self._links.written(effect.link)
        if self._takes_its_time(header):
            self._waiting.append((effect.link, header, request))
        elif header.api_key == ApiKey.INIT_PRODUCER_ID:
            self._tell(effect.link, header, InitProducerIdResponse(producer_id=9))
        elif header.api_key == ApiKey.API_VERSIONS:
            self._tell(effect.link, header, all_versions())
        else:
            self._tell(effect.link, header, self._cluster())

    def _takes_its_time(self, header: RequestHeader) -> bool:
        """And may be lost meanwhile."""
        return header.api_key == ApiKey.PRODUCE

    def _cluster(self) -> MetadataResponse:
        return cluster_of([BROKER], [BROKER] * PARTITIONS)

    def _tell(self, link: int, header: RequestHeader, said: Message) -> None:
        tell(self._links, link, header, said, self.now_ms)


def _lacking_replicas(said: Message) -> Message:
    """What was appended is told to be, and to be tried again."""
    for part in said.responses[0].partition_responses if isinstance(said, ProduceResponse) else ():
        if part.error_code == ErrorCode.NONE:
            part.error_code = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
            part.base_offset = UNKNOWN_OFFSET
    return said


def cluster_of(brokers: Sequence[int], leaders: Sequence[int], epoch: int = 1) -> MetadataResponse:
    """``leaders`` of the partitions."""
    partitions = [
        MetadataResponsePartition(partition_index=index, leader_id=leader, leader_epoch=epoch)
        for index, leader in enumerate(leaders)
    ]
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=broker, host=f"broker-{broker}", port=1)
            for broker in brokers
        ],
        topics=[MetadataResponseTopic(name="t", partitions=partitions)],
    )


def check(run: Run) -> None:
    for partition, log in enumerate(run.logs):
        mine = [(value, one.outcome) for place, value, one in run.sent if place == partition]
        assert len(log.values) == len(set(log.values))
        order = [value for value, _ in mine]
        assert log.values == sorted(log.values, key=lambda value: order.index(value or b""))
        for value, outcome in mine:
            if isinstance(outcome, RecordMetadata):
                assert log.values[outcome.offset] == value
            else:
                assert isinstance(outcome, DeliveryError)
                assert outcome.may_be_written or value not in log.values


@pytest.mark.parametrize("seed", range(30))
def test_with_time_enough(seed: int) -> None:
    run = Run(seed, LONG_MS)
    run.play()
    check(run)
    failed = [one.outcome for *_, one in run.sent if not isinstance(one.outcome, RecordMetadata)]
    causes = [one.cause for one in failed if isinstance(one, DeliveryError)]
    assert all("INVALID_RECORD" in str(cause) for cause in causes), causes


@pytest.mark.parametrize("seed", range(30))
def test_with_batches_that_are_given_up(seed: int) -> None:
    run = Run(seed, SHORT_MS)
    run.play()
    check(run)
