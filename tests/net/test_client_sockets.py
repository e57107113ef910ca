"""The client's sockets against a broker's, both in the test's thread: bytes, TLS, logins, ends."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace

import pytest

from logquake.client.clock import SystemClock
from logquake.client.connection import Connection, connect_to_one
from logquake.client.driving.driven import Driven
from logquake.client.driving.sasl import each_login
from logquake.client.driving.sockets import SelectorSockets
from logquake.client.driving.way_in import PLAIN, WayIn
from logquake.client.errors import AuthenticationFailedError, ConnectionLostError
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings import Address
from logquake.node.net.admittance import ListenerSecurity
from logquake.node.net.limits import ConnectionLimits
from logquake.node.requests.request import Request
from logquake.seams.tls.contexts import client_context
from logquake.seams.tls.settings import ClientAuth
from logquake.wire.api import ApiKey
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.sasl.logins import PlainLogin
from logquake.wire.schema import Message
from tests.net.secured import MECHANISMS, admittances, tls
from tests.net.server import SERVED, Server, ServerFactory

SETTINGS = NetworkSettings(request_timeout_ms=60_000)
TLS = ListenerSecurity(tls=tls())
SASL = ListenerSecurity(mechanisms=MECHANISMS)
MANY = 8 * 1024 * 1024


class BesideServer(SelectorSockets):
    """Waits by letting the server go on."""

    def __init__(self, server: Server, way_in: WayIn) -> None:
        super().__init__(SystemClock(), way_in)
        self._server = server

    def wait(self, links: Driven, timeout_ms: int | None) -> bool:
        self._server.loop.run_pass(max_wait_ms=1)
        return super().wait(links, min(1, timeout_ms or 0))


@contextmanager
def connected(server: Server, way_in: WayIn = PLAIN) -> Iterator[Connection]:
    address = Address("localhost", server.acceptor.port)
    sockets = BesideServer(server, way_in)
    with closing(connect_to_one(address, SETTINGS, way_in, sockets=sockets)) as connection:
        yield connection


def answer(request: Request) -> Message | None:
    key = request.header.api_key
    if key == ApiKey.API_VERSIONS:
        ranges = [
            ApiVersion(api_key=key, min_version=versions[0], max_version=versions[-1])
            for key, versions in SERVED.items()
        ]
        return ApiVersionsResponse(api_keys=ranges)
    if key == ApiKey.FETCH:
        data = PartitionData(partition_index=0, high_watermark=0, records=memoryview(bytes(MANY)))
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[data])])
    if isinstance(request.body, ProduceRequest):
        return ProduceResponse() if request.body.acks else None
    return MetadataResponse()


@pytest.fixture
def server(server: Server) -> Server:
    server.handler.answer = answer
    return server


@pytest.fixture
def tls_server(new_server: ServerFactory) -> Server:
    server = new_server(ConnectionLimits(), admittances=admittances(TLS))
    server.handler.answer = answer
    return server


@pytest.fixture
def context() -> ssl.SSLContext:
    return client_context(tls(None))


def much(connection: Connection) -> int:
    """Bytes that came back."""
    got = connection.request(FetchRequest(max_wait_ms=0, min_bytes=0), FetchResponse, at_most=12)
    records = got.responses[0].partitions[0].records
    assert isinstance(records, memoryview)
    return len(records)


def heavy() -> ProduceRequest:
    data = PartitionProduceData(index=0, records=bytearray(MANY))
    return ProduceRequest(
        acks=1, timeout_ms=1, topic_data=[TopicProduceData(name="t", partition_data=[data])]
    )


def test_requests_and_answers_of_any_size_pass(server: Server) -> None:
    with connected(server) as connection:
        connection.request(MetadataRequest(topics=[]), MetadataResponse)
        connection.request(heavy(), ProduceResponse)
        assert much(connection) == MANY
        connection.request(MetadataRequest(topics=[]), MetadataResponse)


def test_they_pass_in_tls_as_well(tls_server: Server, context: ssl.SSLContext) -> None:
    with connected(tls_server, WayIn(tls=context)) as connection:
        connection.request(heavy(), ProduceResponse)
        assert much(connection) == MANY
        connection.request(MetadataRequest(topics=[]), MetadataResponse)


def test_a_certificate_of_nobody_we_know_is_refused(tls_server: Server) -> None:
    with (
        pytest.raises(AuthenticationFailedError, match="CERTIFICATE_VERIFY_FAILED"),
        connected(tls_server, WayIn(tls=ssl.create_default_context())),
    ):
        pass


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_broker_that_wants_a_certificate_tells_who_has_none(
    new_server: ServerFactory, context: ssl.SSLContext, version: ssl.TLSVersion
) -> None:
    """In TLS 1.3 it does so when the handshake is over for the client."""
    wary = ListenerSecurity(tls=replace(tls(), client_auth=ClientAuth.REQUIRED))
    server = new_server(ConnectionLimits(), admittances=admittances(wary))
    context.maximum_version = version
    with (
        pytest.raises(AuthenticationFailedError, match=r"(?i)alert"),
        connected(server, WayIn(tls=context)),
    ):
        pass


def test_nobody_listens(server: Server) -> None:
    address = Address("127.0.0.1", server.client().socket.getsockname()[1])
    with pytest.raises(ConnectionLostError, match="refused"):
        connect_to_one(address, SETTINGS, sockets=BesideServer(server, PLAIN))


@pytest.mark.parametrize("address", [("x" * 64, 1), ("a\0b", 1), ("127.0.0.1", 70_000)])
def test_an_address_that_nobody_can_have(server: Server, address: tuple[str, int]) -> None:
    with pytest.raises(ConnectionLostError, match="no connection to"):
        connect_to_one(Address(*address), SETTINGS, sockets=BesideServer(server, PLAIN))


def as_alice(password: str) -> WayIn:
    return WayIn(new_login=each_login(PlainLogin("alice", password), "test"))


def test_who_logs_in_is_served(new_server: ServerFactory) -> None:
    server = new_server(ConnectionLimits(), admittances=admittances(SASL))
    server.handler.answer = answer
    with connected(server, as_alice("hush")) as connection:
        connection.request(MetadataRequest(topics=[]), MetadataResponse)
    with pytest.raises(AuthenticationFailedError), connected(server, as_alice("loud")):
        pass


class HangingUp(SelectorSockets):
    """Waits until somebody is there to be hung up on."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(SystemClock())
        self._listener = listener

    def wait(self, links: Driven, timeout_ms: int | None) -> bool:
        with suppress(BlockingIOError):
            self._listener.accept()[0].close()
        return super().wait(links, min(1, timeout_ms or 0))


def test_whoever_listens_hangs_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = Address(*listener.getsockname())
        with pytest.raises(ConnectionLostError):
            connect_to_one(address, SETTINGS, sockets=HangingUp(listener))
