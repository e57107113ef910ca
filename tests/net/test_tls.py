"""TLS listeners in the loop: the same service, over sockets that are encrypted."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
from pathlib import Path

import pytest

from logquake.node.authentication.principal_mapping import PrincipalMapping
from logquake.node.net.admittance import ListenerSecurity
from logquake.node.net.limits import ConnectionLimits
from logquake.seams.tls.contexts import client_context
from logquake.seams.tls.settings import ClientAuth
from logquake.storage.log.slice import LogSlice
from logquake.wire.api import ApiKey
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.messages.produce import ProduceResponse
from logquake.wire.principals import ANONYMOUS, KafkaPrincipal
from tests.doubles.clock import ManualClock
from tests.net.secured import TlsClient, admittances, tls
from tests.net.server import Server, ServerFactory
from tests.net.test_connection import produce, records_of

TLS = ListenerSecurity(tls=tls())
MUTUAL = ListenerSecurity(
    tls=tls(client_auth=ClientAuth.REQUIRED),
    principal_mapping=PrincipalMapping("RULE:^CN=(.*)$/$1/U"),
)
SWEEP_MS = 5_000


@pytest.fixture
def server(new_server: ServerFactory) -> Server:
    return new_server(ConnectionLimits(), admittances=admittances(TLS))


@pytest.fixture
def context() -> ssl.SSLContext:
    return client_context(tls(None))


def events(server: Server) -> list[str]:
    return [event.why or "" for event in server.journal.events]


class TestService:
    def test_a_request_is_answered(self, server: Server, context: ssl.SSLContext) -> None:
        client = TlsClient(server, context)
        client.send(MetadataRequest(topics=[]), 9, 7)
        server.until_asked(1)
        (request,) = server.handler.requests
        assert (request.principal, request.client_host) == (ANONYMOUS, "127.0.0.1")
        request.reply(MetadataResponse(cluster_id="c"))
        assert client.receive_response(ApiKey.METADATA, 9) == (7, MetadataResponse(cluster_id="c"))

    def test_a_request_that_comes_with_the_end_of_the_handshake_is_answered(
        self, server: Server, context: ssl.SSLContext
    ) -> None:
        client = server.client()
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")

        def is_shaken() -> bool:
            with contextlib.suppress(BlockingIOError):
                incoming.write(client.socket.recv(65_536))
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.do_handshake()
                return True
            client.send_raw(outgoing.read())
            return False

        server.until(is_shaken)
        tls.write(client.encode(MetadataRequest(topics=[]), 9, 7))
        client.send_raw(outgoing.read())
        server.until_asked(1)

    @pytest.mark.parametrize("size", [1, 16_384, 300_000, 3_000_000])
    def test_requests_of_any_size_arrive_whole(
        self, server: Server, context: ssl.SSLContext, size: int
    ) -> None:
        client, content = TlsClient(server, context), os.urandom(size)
        received: list[bytes] = []
        server.handler.on_request = lambda request: received.append(bytes(records_of(request)))
        server.handler.answer = lambda _: ProduceResponse()
        for correlation_id in range(3):
            client.send(produce(content), 9, correlation_id)
        server.until_asked(3)
        assert received == [content] * 3

    @pytest.mark.parametrize("size", [30_000, 900_000])
    def test_records_stay_as_they_are_until_the_end_of_the_pass(
        self, server: Server, context: ssl.SSLContext, size: int
    ) -> None:
        """Though TLS has the beginning of the next request by then."""
        client, contents = TlsClient(server, context), [os.urandom(size) for _ in range(10)]
        staged: list[memoryview] = []
        committed: list[bytes] = []

        def commit() -> None:
            committed.extend(map(bytes, staged))
            staged.clear()

        server.handler.on_request = lambda request: staged.append(records_of(request))
        server.handler.on_end_of_pass = commit
        client.send_raw(b"".join(client.encode(produce(each), 9, 1) for each in contents))
        server.until(lambda: len(committed) == len(contents))
        assert committed == contents

    @pytest.mark.parametrize("size", [100, 40_000, 5_000_000])
    def test_slices_of_files_are_sent(
        self, server: Server, context: ssl.SSLContext, tmp_path: Path, size: int
    ) -> None:
        content = os.urandom(size)
        (tmp_path / "log").write_bytes(b"...." + content)
        with (tmp_path / "log").open("rb", buffering=0) as file:
            records = LogSlice(_File(file.fileno()), 4, size, 0)
            server.handler.answer = lambda _: fetched(records)
            client = TlsClient(server, context)
            for correlation_id in range(2):
                client.send(FetchRequest(), 11, correlation_id)
                got, response = client.receive_response(ApiKey.FETCH, 11)
                assert got == correlation_id
                assert isinstance(response, FetchResponse)
                assert bytes_in(response) == content

    def test_answers_wait_for_a_client_that_does_not_read(
        self, server: Server, context: ssl.SSLContext
    ) -> None:
        content = os.urandom(8_000_000)
        server.handler.answer = lambda _: fetched(content)
        client = TlsClient(server, context)
        client.send(FetchRequest(), 11, 1)
        server.until_asked(1)
        server.settle()
        _, response = client.receive_response(ApiKey.FETCH, 11)
        assert isinstance(response, FetchResponse)
        assert bytes_in(response) == content

    def test_a_client_that_leaves_is_noticed(self, server: Server, context: ssl.SSLContext) -> None:
        client = TlsClient(server, context)
        assert len(server.processor) == 1
        client.socket.close()
        server.until(lambda: len(server.processor) == 0)
        assert server.journal.events == []

    def test_a_client_that_says_farewell_is_noticed(
        self, server: Server, context: ssl.SSLContext
    ) -> None:
        client = TlsClient(server, context)
        assert isinstance(client.socket, ssl.SSLSocket)
        with pytest.raises(ssl.SSLWantReadError):
            client.socket.unwrap()
        server.until(lambda: len(server.processor) == 0)


class TestCertificates:
    def test_a_principal_by_the_rules(self, new_server: ServerFactory) -> None:
        server = new_server(ConnectionLimits(), admittances=admittances(MUTUAL))
        client = TlsClient(server, client_context(tls("duke")))
        client.send(MetadataRequest(topics=[]), 9, 7)
        server.until_asked(1)
        assert server.handler.requests[0].principal == KafkaPrincipal("User", "DUKE")

    def test_a_client_without_one_is_sent_away(self, new_server: ServerFactory) -> None:
        server = new_server(ConnectionLimits(), admittances=admittances(MUTUAL))
        client = TlsClient(server, client_context(tls(None)))  # in TLS 1.3 it learns of it later
        server.until(lambda: len(server.processor) == 0)
        assert client.is_closed()
        assert events(server) == ["TLS handshake: PEER_DID_NOT_RETURN_A_CERTIFICATE"]

    def test_where_it_is_only_requested_it_is_anonymous(self, new_server: ServerFactory) -> None:
        requested = ListenerSecurity(tls=tls(client_auth=ClientAuth.REQUESTED))
        server = new_server(ConnectionLimits(), admittances=admittances(requested))
        for name in (None, "duke"):
            client = TlsClient(server, client_context(tls(name)))
            client.send(MetadataRequest(topics=[]), 9, 7)
        server.until_asked(2)
        assert {str(each.principal) for each in server.handler.requests} == {
            "User:ANONYMOUS",
            "User:CN=duke",
        }

    def test_a_name_that_no_rule_is_about_is_sent_away(self, new_server: ServerFactory) -> None:
        listener = ListenerSecurity(MUTUAL.tls, principal_mapping=PrincipalMapping("RULE:x/x/"))
        server = new_server(ConnectionLimits(), admittances=admittances(listener))
        client = TlsClient(server, client_context(tls("duke")))
        server.until(client.is_closed)
        assert len(server.processor) == 0
        assert events(server) == ["no rule applies to CN=duke"]

    def test_a_client_trusts_none_but_its_authority(self, server: Server) -> None:
        with pytest.raises(ssl.SSLCertVerificationError):
            TlsClient(server, ssl.create_default_context())

    def test_nor_another_host(self, server: Server, context: ssl.SSLContext) -> None:
        with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
            TlsClient(server, context, "elsewhere")


class TestHostileClients:
    @pytest.mark.parametrize(
        "content",
        [b"GET / HTTP/1.1\r\n\r\n", os.urandom(5_000), b"\x16\x03\x01\xff\xff" + bytes(9)],
    )
    def test_what_is_no_handshake_ends_it(
        self, server: Server, context: ssl.SSLContext, content: bytes
    ) -> None:
        other = TlsClient(server, context)
        client = server.client()
        client.send_raw(content)
        client.socket.shutdown(socket.SHUT_WR)
        server.until(lambda: len(server.processor) == 1)
        other.send(MetadataRequest(topics=[]), 9, 7)
        server.until_asked(1)

    def test_garbage_after_the_handshake_ends_it(
        self, server: Server, context: ssl.SSLContext
    ) -> None:
        client = TlsClient(server, context)
        raw = socket.socket(fileno=os.dup(client.socket.fileno()))
        with raw:
            raw.send(os.urandom(1_000))
            server.until(lambda: len(server.processor) == 0)

    def test_who_leaves_without_a_word_is_not_told_of(self, server: Server) -> None:
        client = server.client()
        server.until(lambda: len(server.processor) == 1)
        client.socket.close()
        server.until(lambda: len(server.processor) == 0)
        assert server.journal.events == []

    def test_who_resets_amid_the_handshake_is_gone(self, server: Server) -> None:
        for content in (b"", b"\x16"):
            client = server.client()
            server.until(lambda: len(server.processor) == 1)
            if content:
                client.send_raw(content)
            client.reset()
            server.until(lambda: len(server.processor) == 0)

    def test_a_handshake_that_stops_ends_in_time(self, new_server: ServerFactory) -> None:
        clock = ManualClock()
        limits = ConnectionLimits(max_authentication_ms=20_000)
        server = new_server(limits, clock, admittances=admittances(TLS))
        stopped, silent = server.client(), server.client()
        stopped.send_raw(b"\x16\x03\x01")
        server.until(lambda: len(server.processor) == 2)
        server.settle()
        clock.advance_ms(20_000 - SWEEP_MS)
        server.settle()
        assert len(server.processor) == 2
        clock.advance_ms(2 * SWEEP_MS)
        server.until(stopped.is_closed)
        assert not silent.is_closed()  # it costs no more than a descriptor, until it is idle


class _File:
    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        return self._number

    def pread(self, size: int, position: int) -> bytes:
        return os.pread(self._number, size, position)


def fetched(records: LogSlice | bytes) -> FetchResponse:
    partition = PartitionData(partition_index=0, high_watermark=1, records=records)
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])


def bytes_in(response: FetchResponse) -> bytes:
    records = response.responses[0].partitions[0].records
    assert isinstance(records, memoryview)
    return bytes(records)
