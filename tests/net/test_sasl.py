"""SASL listeners in the loop: who is let in, who waits for his refusal, and who is sent away."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from logquake.node.net.admittance import ListenerSecurity
from logquake.node.net.limits import ConnectionLimits
from logquake.seams.tls.contexts import client_context
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.api_versions import ApiVersionsRequest
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
)
from logquake.wire.principals import KafkaPrincipal
from tests.doubles.clock import ManualClock
from tests.doubles.scheduler import ManualScheduler
from tests.net.secured import MECHANISMS, TlsClient, admittances, tls
from tests.net.server import Client, Server, ServerFactory

SASL = ListenerSecurity(mechanisms=MECHANISMS)
EXPIRING = ListenerSecurity(
    mechanisms={name: replace(each, max_reauth_ms=1_500) for name, each in MECHANISMS.items()}
)
ALICE = KafkaPrincipal("User", "alice")
DELAY_MS = 100


@pytest.fixture
def server(new_server: ServerFactory, clock: ManualClock) -> Server:
    server = new_server(ConnectionLimits(), clock, admittances=admittances(SASL))
    server.handler.answer = lambda _: MetadataResponse()
    return server


def authenticate(client: Client, password: str = "hush") -> SaslAuthenticateResponse:
    client.send(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1)
    client.receive_response(ApiKey.SASL_HANDSHAKE, 1)
    token = f"\0alice\0{password}".encode()
    client.send(SaslAuthenticateRequest(auth_bytes=token), 2, 2)
    _, answer = client.receive_response(ApiKey.SASL_AUTHENTICATE, 2)
    assert isinstance(answer, SaslAuthenticateResponse)
    return answer


def ask(client: Client) -> None:
    client.send(MetadataRequest(topics=[]), 9, 7)
    client.receive_response(ApiKey.METADATA, 9)


def events(server: Server) -> list[str]:
    return [event.why or "" for event in server.journal.events]


class TestAdmission:
    def test_requests_are_those_of_the_principal(self, server: Server) -> None:
        client = server.client()
        client.send(ApiVersionsRequest(), 0, 0)
        client.receive_response(ApiKey.API_VERSIONS, 0)
        assert authenticate(client).error_code == ErrorCode.NONE
        ask(client)
        assert [request.principal for request in server.handler.requests] == [ALICE]

    def test_over_tls(self, new_server: ServerFactory) -> None:
        listener = ListenerSecurity(tls(), MECHANISMS)
        server = new_server(ConnectionLimits(), admittances=admittances(listener))
        server.handler.answer = lambda _: MetadataResponse()
        client = TlsClient(server, client_context(tls(None)))
        assert authenticate(client).error_code == ErrorCode.NONE
        ask(client)
        assert server.handler.requests[0].principal == ALICE

    def test_the_first_request_may_come_with_the_last_token(self, server: Server) -> None:
        client = server.client()
        client.send_raw(
            client.encode(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1)
            + len(b"\0alice\0hush").to_bytes(4)
            + b"\0alice\0hush"
            + client.encode(MetadataRequest(topics=[]), 9, 7)
        )
        client.receive_response(ApiKey.SASL_HANDSHAKE, 0)
        assert client.receive_frame() == b""
        assert client.receive_response(ApiKey.METADATA, 9)[0] == 7

    def test_a_large_request_comes_after_it_alone(
        self, new_server: ServerFactory, clock: ManualClock
    ) -> None:
        limits = ConnectionLimits(max_sasl_bytes=1_000)
        server = new_server(limits, clock, admittances=admittances(SASL))
        large = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        early, late = server.client(), server.client()
        early.send_raw((1_001).to_bytes(4) + bytes(1_001))
        server.until(early.is_closed)
        authenticate(late)
        late.send_raw(late.encode(large, 9, 7)[:4].replace(b"\0\0\0", b"\0\0\7", 1))
        server.settle()
        assert not late.is_closed()


class TestRefusals:
    def test_a_wrong_password_is_answered_after_the_delay(
        self, server: Server, clock: ManualClock
    ) -> None:
        client = server.client()
        client.send(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1)
        client.receive_response(ApiKey.SASL_HANDSHAKE, 1)
        client.send_raw(
            client.encode(SaslAuthenticateRequest(auth_bytes=b"\0alice\0guess"), 2, 2)
            + client.encode(MetadataRequest(topics=[]), 9, 7)
        )
        server.until(lambda: bool(events(server)))
        clock.advance_ms(DELAY_MS - 1)
        server.settle()
        assert not client.has_bytes()
        assert not client.is_closed()
        clock.advance_ms(1)
        _, answer = client.receive_response(ApiKey.SASL_AUTHENTICATE, 2)
        assert isinstance(answer, SaslAuthenticateResponse)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        server.until(client.is_closed)
        assert server.handler.requests == []

    def test_the_journal_says_why_and_no_secret(self, server: Server, clock: ManualClock) -> None:
        client = server.client()
        client.send(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1)
        client.receive_response(ApiKey.SASL_HANDSHAKE, 1)
        client.send(SaslAuthenticateRequest(auth_bytes=b"\0alice\0my-guess"), 2, 2)
        server.until(lambda: bool(events(server)))
        clock.advance_ms(DELAY_MS)
        client.receive_response(ApiKey.SASL_AUTHENTICATE, 2)
        server.until(client.is_closed)
        assert events(server) == [
            "not authenticated: Authentication failed: Invalid username or password"
        ]

    def test_requests_without_authentication_are_not_served(
        self, server: Server, clock: ManualClock
    ) -> None:
        client = server.client()
        client.send(MetadataRequest(topics=[]), 9, 7)
        server.until(lambda: bool(events(server)))
        clock.advance_ms(DELAY_MS)
        server.until(client.is_closed)
        assert server.handler.requests == []

    @pytest.mark.parametrize("size", [0, 1, 9, 5_000])
    def test_hostile_bytes_end_their_connection_and_no_other(
        self, server: Server, clock: ManualClock, size: int
    ) -> None:
        other, client = server.client(), server.client()
        authenticate(other)
        client.send_raw(size.to_bytes(4) + os.urandom(size))
        server.until(lambda: bool(events(server)))
        clock.advance_ms(DELAY_MS)
        server.until(client.is_closed)
        ask(other)

    def test_who_does_not_come_to_an_end_is_sent_away(
        self, server: Server, clock: ManualClock
    ) -> None:
        started, dripping, silent = server.client(), server.client(), server.client()
        started.send(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1)
        started.receive_response(ApiKey.SASL_HANDSHAKE, 1)
        dripping.send_raw(b"\0")
        server.until(lambda: len(server.processor) == 3)
        server.settle()
        clock.advance_ms(ConnectionLimits().max_authentication_ms)
        server.until(lambda: started.is_closed() and dripping.is_closed())
        assert not silent.is_closed()


class TestSessions:
    """KIP-368."""

    @pytest.fixture
    def scheduler(self) -> ManualScheduler:
        return ManualScheduler()

    @pytest.fixture
    def server(self, new_server: ServerFactory, scheduler: ManualScheduler) -> Server:
        server = new_server(ConnectionLimits(), admittances=admittances(EXPIRING, scheduler))
        server.handler.answer = lambda _: MetadataResponse()
        return server

    def test_a_request_after_the_end_ends_the_connection(
        self, server: Server, scheduler: ManualScheduler
    ) -> None:
        client = server.client()
        assert authenticate(client).session_lifetime_ms == 1_500
        scheduler.advance(1_500)
        ask(client)
        scheduler.advance(1)
        client.send(MetadataRequest(topics=[]), 9, 7)
        server.until(client.is_closed)

    def test_who_authenticates_anew_goes_on(
        self, server: Server, scheduler: ManualScheduler
    ) -> None:
        client = server.client()
        authenticate(client)
        for _ in range(3):
            scheduler.advance(1_400)
            assert authenticate(client).error_code == ErrorCode.NONE
            ask(client)

    def test_more_than_once_a_second_is_for_the_handler(
        self, server: Server, scheduler: ManualScheduler
    ) -> None:
        client = server.client()
        authenticate(client)
        authenticate(client)
        scheduler.advance(999)
        client.send(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1)
        server.until(client.is_closed)  # this one serves no such requests


def test_a_handshake_where_nothing_is_to_be_renewed_is_for_the_handler(server: Server) -> None:
    client = server.client()
    authenticate(client)
    client.send(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1)
    server.until(client.is_closed)
