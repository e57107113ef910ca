"""A cluster in memory: sockets whose other end decodes requests and answers from handlers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

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
    """Time passes when somebody sleeps, or reads a socket that has nothing."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def now_ms(self) -> int:
        return self.now

    def wall_ms(self) -> int:
        return 1_700_000_000_000

    def sleep_ms(self, duration_ms: int) -> None:
        self.now += duration_ms


class FakeSocket:
    def __init__(self, network: FakeNetwork, address: Address) -> None:
        self._network = network
        self._address = address
        self._incoming = bytearray()
        self._failure: Exception | None = None
        self._timeout_s = 0.0
        self.closed = False

    def settimeout(self, timeout: float | None, /) -> None:
        self._timeout_s = timeout or 0.0

    def sendall(self, data: bytes, /) -> None:
        answer = self._network.answer(memoryview(data)[4:], self._address)
        if isinstance(answer, Exception):
            self._failure = answer
        elif answer is not None:
            self._incoming += answer

    def recv_into(self, buffer: memoryview, /) -> int:
        if self._failure is not None:
            raise self._failure
        if not self._incoming:
            self._network.clock.now += int(self._timeout_s * 1000)
            raise TimeoutError
        # One byte less than there is, where possible: reads must cope with partial ones.
        count = min(len(buffer), max(1, len(self._incoming) - 1))
        buffer[:count] = self._incoming[:count]
        del self._incoming[:count]
        return count

    def close(self) -> None:
        self.closed = True


@dataclass
class FakeNetwork:
    """Handlers by API key, and what was asked of them."""

    clock: FakeClock
    handlers: dict[ApiKey, Handler] = field(default_factory=dict)
    requests: dict[ApiKey, list[Any]] = field(default_factory=lambda: defaultdict(list))
    headers: list[RequestHeader] = field(default_factory=list)
    sockets: list[FakeSocket] = field(default_factory=list)
    refused: set[Address] = field(default_factory=set)

    def connect(self, address: Address, timeout_s: float) -> FakeSocket:
        assert timeout_s > 0
        if address in self.refused:
            raise ConnectionRefusedError("refused")
        self.sockets.append(FakeSocket(self, address))
        return self.sockets[-1]

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
            return joined(encode_response(header.correlation_id, answer, header.api_version))
        return answer


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
