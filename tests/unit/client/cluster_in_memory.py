"""A cluster in memory: its other end decodes requests, and answers from handlers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from logquake.client.connection import Connection, connect_to_one
from logquake.client.driving.driven import Driven
from logquake.client.driving.sockets import perform_all
from logquake.client.network.effects import Connect, Effect, Resolve, Write
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader, decode_request_header, encode_response
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.schema import Message, decode
from tests.parts import joined

Handler = Callable[[Any, Address], Message | bytes | Exception | None]


class FakeClock:
    """Time passes when somebody sleeps, or waits for what does not come."""

    def __init__(self, now: int = 1_000_000) -> None:
        self.now = now

    def now_ms(self) -> int:
        return self.now

    def wall_ms(self) -> int:
        return 1_700_000_000_000

    def sleep_ms(self, duration_ms: int) -> None:
        self.now += duration_ms


class FakeSocket:
    """What came back on one link and was not received yet."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.incoming = bytearray()
        self.failure: Exception | None = None
        self.closed = False


@dataclass
class FakeNetwork:
    """Handlers by API key, and what was asked of them."""

    clock: FakeClock
    handlers: dict[ApiKey, Handler] = field(default_factory=dict)
    requests: dict[ApiKey, list[Any]] = field(default_factory=lambda: defaultdict(list))
    headers: list[RequestHeader] = field(default_factory=list)
    sockets: list[FakeSocket] = field(default_factory=list)
    refused: set[Address] = field(default_factory=set)

    def new_sockets(self) -> FakeSockets:
        return FakeSockets(self)

    def dial(self, address: Address) -> Connection:
        """Satisfies Dial."""
        settings = NetworkSettings(request_timeout_ms=1000)
        return connect_to_one(address, settings, clock=self.clock, sockets=self.new_sockets())

    def answer(self, frame: memoryview, address: Address) -> bytes | Exception | None:
        header, start = decode_request_header(frame)
        request_class = request_type(header.api_key)
        assert request_class is not None
        request = decode(request_class, header.api_version, frame, start)
        key = ApiKey(header.api_key)
        self.headers.append(header)
        self.requests[key].append(request)
        answer = self.handlers[key](request, address)
        if isinstance(answer, Message):
            said = self.reply(answer, header.api_version)
            return joined(encode_response(header.correlation_id, said, header.api_version))
        return answer

    def reply(self, answer: Message, _version: int) -> Message:
        """As it is sent, in that version."""
        return answer


class FakeSockets:
    """One driver's. Satisfies Sockets."""

    def __init__(self, network: FakeNetwork) -> None:
        self._network = network
        self._clock = network.clock
        self._ends: dict[int, FakeSocket] = {}

    def perform(self, links: Driven) -> bool:
        return perform_all(links, partial(self._do, links))

    def wait(self, links: Driven, timeout_ms: int | None) -> bool:
        for link, end in list(self._ends.items()):
            if end.incoming:
                self._deliver(links, link, end)
                return True
            if end.failure is not None:
                links.lost(link, str(end.failure), self._clock.now)
                return True
        assert timeout_ms is not None, "would wait for ever"
        self._clock.now += timeout_ms
        return True

    def close(self) -> None:
        for end in self._ends.values():
            end.closed = True

    def _do(self, links: Driven, effect: Effect) -> bool:
        now = self._clock.now
        if isinstance(effect, Resolve):
            links.resolved(effect.link, [effect.host], now)
        elif isinstance(effect, Connect):
            self._connect(links, effect.link, Address(effect.host, effect.port))
        elif isinstance(effect, Write):
            return self._write(links, effect)
        elif effect.link in self._ends:
            self._ends.pop(effect.link).closed = True
        return True

    def _connect(self, links: Driven, link: int, address: Address) -> None:
        if address in self._network.refused:
            links.lost(link, "refused", self._clock.now)
            return
        self._ends[link] = FakeSocket(address)
        self._network.sockets.append(self._ends[link])
        links.connected(link, self._clock.now)

    def _write(self, links: Driven, effect: Write) -> bool:
        end = self._ends[effect.link]
        if end.failure is not None:
            return links.written(effect.link)  # nobody receives it any more
        answer = self._network.answer(memoryview(joined(effect.parts))[4:], end.address)
        if isinstance(answer, Exception):
            end.failure = answer
        elif answer is not None:
            end.incoming += answer
        return links.written(effect.link)

    def _deliver(self, links: Driven, link: int, end: FakeSocket) -> None:
        """One byte less than there is, where possible: it has to cope with pieces."""
        room = links.room(link)
        count = min(len(room), max(1, len(end.incoming) - 1))
        room[:count] = end.incoming[:count]
        del end.incoming[:count]
        links.received(link, count, self._clock.now)


def all_versions() -> ApiVersionsResponse:
    """A broker that speaks every version there is."""
    keys = []
    for key in ApiKey:
        request_class = request_type(key)
        assert request_class is not None
        versions = request_class.__schema__.versions
        keys.append(ApiVersion(api_key=key, min_version=versions.first, max_version=versions.last))
    return ApiVersionsResponse(api_keys=keys)


@dataclass
class FakeTopology:
    """What Metadata answers: two brokers, and the leaders of topic "t"."""

    leaders: dict[int, tuple[int, int]] = field(default_factory=lambda: {0: (1, 5), 1: (2, 7)})
    controller_id: int = 1

    def metadata(self, request: Any, _: Address) -> MetadataResponse:
        named = None if request.topics is None else {topic.name for topic in request.topics}
        topics = [self._topic()] if named is None or "t" in named else []
        unknown = sorted((named or set()) - {"t"})
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(node_id=1, host="one", port=9092),
                MetadataResponseBroker(node_id=2, host="two", port=9092, rack="r2"),
            ],
            cluster_id="fake",
            controller_id=self.controller_id,
            topics=topics
            + [
                MetadataResponseTopic(
                    name=name, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, topic_id=bytes(16)
                )
                for name in unknown
            ],
        )

    def _topic(self) -> MetadataResponseTopic:
        return MetadataResponseTopic(
            error_code=0,
            name="t",
            topic_id=bytes(range(16)),
            partitions=[
                MetadataResponsePartition(
                    error_code=0,
                    partition_index=index,
                    leader_id=leader,
                    leader_epoch=epoch,
                    replica_nodes=[1, 2],
                    isr_nodes=[2],
                )
                for index, (leader, epoch) in self.leaders.items()
            ],
        )
