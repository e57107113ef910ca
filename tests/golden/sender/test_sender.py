"""What a producer asks brokers, and what it makes of their answers."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from logquake.client.network.effects import Connect, Write
from logquake.client.network.links import Links
from logquake.client.network.metadata import Metadata, MetadataSettings
from logquake.client.network.metadata_updates import MetadataUpdates
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import RECORDS, Appended
from logquake.client.producer.delivery import Delivery, RecordMetadata
from logquake.client.producer.idempotence.idempotence import Idempotence
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.produce_requests import OLDEST_VERSION
from logquake.client.producer.sender import Sender
from logquake.client.producer.settings import BatchingSettings, SendingSettings
from logquake.client.producer.transactions.transactions import Transactions
from logquake.wire.api import ApiKey
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from logquake.wire.messages.transactions import InitProducerIdResponse
from logquake.wire.records import Record, read_header
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.even_random import EvenRandom
from tests.doubles.link_bytes import asked, tell
from tests.golden.core_player import CorePlayer
from tests.golden.player import check_script, scripts_beside
from tests.parts import joined

PORT = 9092


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, SenderPlayer())


class Asked:
    """A Produce request that waits for its answer."""

    def __init__(self, link: int, header: RequestHeader, request: ProduceRequest) -> None:
        self.link = link
        self.header = header
        self.places = [
            TopicPartition(topic.name, data.index)
            for topic in request.topic_data
            for data in topic.partition_data
        ]


class SenderPlayer(CorePlayer):
    """Connections are made at once, versions and metadata told at once; Produce requests are p1,
    p2..., records r1, r2... in the order of their appends.
    """

    def __init__(self) -> None:
        super().__init__()
        self._leaders: dict[TopicPartition, tuple[int, int]] = {}
        self._nodes = {1: "one", 2: "two"}
        self._records = 0
        self._asked: list[Asked] = []
        self._id_asked: tuple[int, RequestHeader] | None = None
        self._links_of: dict[int, int] = {}
        self._speaks_produce = 11
        self.do_cluster(**{"t-0": "1", "t-1": "1", "t-2": "2"})
        self._begin({}, {}, in_flight=5, idempotent=False)

    def _begin(
        self, batching: dict[str, int], sending: dict[str, int], *, in_flight: int, idempotent: bool
    ) -> None:
        random = EvenRandom()
        network = NetworkSettings(max_in_flight_requests=in_flight)
        metadata = MetadataSettings(retry_backoff_max_ms=100)
        batches = BatchingSettings(**{"batch_bytes": 300, "retry_backoff_max_ms": 100, **batching})  # type: ignore[arg-type]
        numbering = self._new_numbering(idempotent=idempotent)
        self._accumulator = Accumulator(batches, numbering, random)
        self._links = Links(network, random)
        self._metadata = Metadata(metadata, [("one", PORT)], random)
        client = NetworkClient(network, self._links, self._metadata, random)
        self._sender = Sender(
            SendingSettings(is_one_at_a_time=in_flight == 1, **sending),  # type: ignore[arg-type]
            batches,
            self._accumulator,
            client,
            self._metadata,
            MetadataUpdates(metadata, client, self._metadata),
            numbering,
        )
        self._metadata.use("t", self._clock.now)

    def _new_numbering(self, *, idempotent: bool) -> Unnumbered | Idempotence | Transactions:
        return Idempotence() if idempotent else Unnumbered()

    # What the producer is, and does

    def do_producer(
        self, idempotent: str = "no", in_flight: str = "5", speaks: str = "11", **settings: str
    ) -> None:
        """Settings of batching and sending by name; its brokers speak Produce up to ``speaks``."""
        self._speaks_produce = int(speaks)
        values = {
            name: Codec[value.upper()] if name == "codec" else int(value)
            for name, value in settings.items()
        }
        sending = {name: value for name, value in values.items() if name in ("acks", "retries")}
        batching = {name: value for name, value in values.items() if name not in sending}
        self._begin(batching, sending, in_flight=int(in_flight), idempotent=idempotent == "yes")
        self._go_on()

    def do_append(self, *places: str, size: str = "20", times: str = "1") -> None:
        for place in places * int(times):
            self._records += 1
            self._append(f"r{self._records}", _place(place), int(size))

    def _append(self, name: str, place: TopicPartition, size: int) -> None:
        record = Record(0, self._clock.now, None, b"x" * size)
        appended = self._accumulator.append(
            RECORDS,
            place.topic,
            place.partition,
            record,
            self._sender.leaders(),
            self._clock.now,
        )
        assert isinstance(appended, Appended)
        appended.delivery.when_done(partial(self._told, name, appended.delivery))
        self._appended(place)

    def _appended(self, place: TopicPartition) -> None:
        """A record was taken."""

    def _told(self, name: str, delivery: Delivery) -> None:
        outcome = delivery.outcome
        if isinstance(outcome, RecordMetadata):
            self._log(f"{name} is at {outcome.topic}-{outcome.partition}:{outcome.offset}")
        else:
            self._log(f"{name} failed: {outcome}")

    def do_close(self) -> None:
        self._accumulator.close()

    def do_is_idle(self) -> None:
        self._log("yes" if self._sender.is_idle else "no")

    def do_next_due(self) -> None:
        due_ms = self._sender.next_due_ms(self._clock.now)
        self._log("never" if due_ms is None else f"in {due_ms - self._clock.now} ms")

    # What brokers do

    def do_cluster(self, **leaders: str) -> None:
        """What Metadata tells from now on: ``t-0=1/4`` is led by broker 1 since epoch 4."""
        self._leaders = {_place(place): _leader(told) for place, told in leaders.items()}

    def do_id(self, producer_id: str, epoch: str = "0") -> None:
        answer = InitProducerIdResponse(
            error_code=ErrorCode.NONE, producer_id=int(producer_id), producer_epoch=int(epoch)
        )
        self._answer_id(answer)

    def do_refuse_id(self, code: str) -> None:
        self._answer_id(InitProducerIdResponse(error_code=ErrorCode[code], producer_epoch=-1))

    def _answer_id(self, answer: Message) -> None:
        assert self._id_asked is not None
        self._answer(*self._id_asked, answer)
        self._id_asked = None

    def do_written(self, request: str, at: str = "0") -> None:
        """All its batches, from that offset on."""
        asked = self._take(request)
        self._tell(asked, {place: _part(place, base_offset=int(at)) for place in asked.places})

    def do_all_written(self) -> None:
        """All requests in their order, those too that come of it."""
        request = 0
        while request < len(self._asked):
            request += 1
            self.do_written(f"p{request}")
            self._go_on()
        self._chronicle.take_log()
        self._log(f"p1 to p{request}")

    def do_refused(
        self,
        request: str,
        code: str,
        leader: str = "",
        log_start: str = "-1",
        record: str = "",
        at: str = "-1",
    ) -> None:
        """All its batches; ``leader`` is the new one, ``record`` the place of one at fault, ``at``
        where the first was appended before.
        """
        asked = self._take(request)
        node, epoch = _leader(leader) if leader else (-1, -1)
        at_fault = [BatchIndexAndErrorMessage(batch_index=int(record))] if record else []
        parts = {
            place: _part(
                place,
                error_code=ErrorCode[code],
                base_offset=int(at),
                log_start_offset=int(log_start),
                record_errors=at_fault,
                current_leader=LeaderIdAndEpoch(leader_id=node, leader_epoch=epoch),
            )
            for place in asked.places
        }
        endpoints = [NodeEndpoint(node_id=node, host=f"host-{node}", port=PORT)] if leader else []
        self._tell(asked, parts, endpoints)

    def do_says_nothing(self, request: str) -> None:
        """An answer without any of its partitions."""
        self._tell(self._take(request), {})

    def do_lose(self, request: str) -> None:
        """The connection that it was asked on."""
        asked = self._take(request)
        self._links.lost(asked.link, "reset by peer", self._clock.now)

    def _take(self, request: str) -> Asked:
        return self._asked[int(request[1:]) - 1]

    def _tell(
        self,
        asked: Asked,
        parts: dict[TopicPartition, PartitionProduceResponse],
        endpoints: list[NodeEndpoint] | None = None,
    ) -> None:
        topics = sorted({place.topic for place in parts})
        responses = [
            TopicProduceResponse(
                name=topic,
                partition_responses=[one for place, one in parts.items() if place.topic == topic],
            )
            for topic in topics
        ]
        answer = ProduceResponse(responses=responses, node_endpoints=endpoints or [])
        self._answer(asked.link, asked.header, answer)

    # The network

    def _next_due_ms(self) -> int | None:
        return self._sender.next_due_ms(self._clock.now)

    def _pass(self) -> bool:
        self._sender.poll(self._clock.now)
        effects = self._links.take_effects()
        for connect in (effect for effect in effects if isinstance(effect, Connect)):
            self._log(f"connects to {connect.host}")
        due_ms = self._next_due_ms()
        self._perform(effects)
        return bool(effects) or (due_ms is not None and due_ms <= self._clock.now)

    def _write(self, effect: Write) -> None:
        header, request = asked(effect)
        self._links.written(effect.link)
        if isinstance(request, ProduceRequest):
            self._asked.append(Asked(effect.link, header, request))
            self._log(f"p{len(self._asked)} asks {self._host(effect.link)}: {_shown(request)}")
        elif header.api_key == ApiKey.INIT_PRODUCER_ID:
            self._is_asked_for_id(effect.link, header, request)
        elif header.api_key not in (ApiKey.API_VERSIONS, ApiKey.METADATA):
            self._is_asked(effect.link, header, request)
        else:
            served = header.api_key == ApiKey.API_VERSIONS
            answer = self._versions() if served else self._told_metadata()
            self._answer(effect.link, header, answer)

    def _is_asked_for_id(self, link: int, header: RequestHeader, _request: Message) -> None:
        self._id_asked = (link, header)
        self._log("asks for a producer id")

    def _is_asked(self, _link: int, header: RequestHeader, _request: Message) -> None:
        raise AssertionError(f"nobody expects API key {header.api_key}")

    def _host(self, link: int) -> str:
        return next(
            (str(node) for node in (1, 2, 3) if (one := self._link(node)) and one == link), "?"
        )

    def _link(self, node: int) -> int | None:
        link = self._links.states.link(node)
        return link.id if link else None

    def _served(self) -> dict[int, int]:
        """The last version by API key; ids are as old as record batches."""
        ids: dict[int, int] = (
            {ApiKey.INIT_PRODUCER_ID: 4} if self._speaks_produce >= OLDEST_VERSION else {}
        )
        return {
            ApiKey.PRODUCE: self._speaks_produce,
            ApiKey.METADATA: 12,
            ApiKey.API_VERSIONS: 3,
            **ids,
        }

    def _versions(self) -> Message:
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=key, min_version=0, max_version=last)
                for key, last in self._served().items()
            ]
        )

    def _told_metadata(self) -> Message:
        partitions = [
            MetadataResponsePartition(
                error_code=ErrorCode.NONE,
                partition_index=place.partition,
                leader_id=leader,
                leader_epoch=epoch,
                replica_nodes=[1, 2],
                isr_nodes=[1, 2],
            )
            for place, (leader, epoch) in self._leaders.items()
        ]
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(node_id=node, host=host, port=PORT)
                for node, host in self._nodes.items()
            ],
            controller_id=1,
            topics=[
                MetadataResponseTopic(error_code=ErrorCode.NONE, name="t", partitions=partitions)
            ],
        )

    def _answer(self, link: int, header: RequestHeader, said: Message) -> None:
        tell(self._links, link, header, said, self._clock.now)


def _place(text: str) -> TopicPartition:
    topic, partition = text.rsplit("-", 1)
    return TopicPartition(topic, int(partition))


def _leader(text: str) -> tuple[int, int]:
    node, _, epoch = text.partition("/")
    return int(node), int(epoch or 0)


def _part(place: TopicPartition, **fields: object) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        **{"index": place.partition, "error_code": ErrorCode.NONE, **fields}  # type: ignore[arg-type]
    )


def _shown(request: ProduceRequest) -> str:
    shown = []
    for topic in request.topic_data:
        for data in topic.partition_data:
            assert data.records is not None
            header = read_header(memoryview(joined([data.records])), 0)
            stamp = ""
            if header.producer_id >= 0:
                stamp = (
                    f" from {header.base_sequence} of {header.producer_id}/{header.producer_epoch}"
                )
            shown.append(f"{topic.name}-{data.index} {header.record_count} records{stamp}")
    return ", ".join(shown)
