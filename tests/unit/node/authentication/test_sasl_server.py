"""The exchange around the mechanisms: what is taken when, and how it ends."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Any

import pytest

from logquake.node.authentication.credentials import Credentials
from logquake.node.authentication.mechanisms import EnabledMechanism, PlainUsers, SaslTools
from logquake.node.authentication.sasl_frames import VersionsAnswers
from logquake.node.authentication.sasl_server import SaslServerAuthenticator
from logquake.node.authentication.sasl_steps import Admission, Answer, Refusal, Step
from logquake.node.authentication.unsecured_jws import UnsecuredValidator
from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from logquake.wire.messages.leader_and_isr import LeaderAndIsrRequest
from logquake.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from logquake.wire.messages.produce import ProduceRequest
from logquake.wire.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.sasl.authenticator import (
    LoggedIn,
    NotAuthenticatedError,
    SaslClientAuthenticator,
)
from logquake.wire.sasl.logins import PlainLogin, begin_login
from logquake.wire.sasl.oauthbearer import make_token
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.wire.schema import Message
from tests.parts import joined

ENABLED = {
    "PLAIN": EnabledMechanism(PlainUsers({"alice": "hush", "bob": "hush"})),
    "SCRAM-SHA-256": EnabledMechanism(ScramMechanism.SCRAM_SHA_256),
    "OAUTHBEARER": EnabledMechanism(UnsecuredValidator()),
}
NOW_MS, WALL_MS = 5_000, 1_700_000_000_000
TOKEN = b"\0alice\0hush"
ALICE = KafkaPrincipal("User", "alice")
INVALID = "Authentication failed: Invalid username or password"


def _versions(version: int, body: ApiVersionsRequest) -> ApiVersionsResponse:
    wrong = version >= 3 and not body.client_software_name
    return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST if wrong else ErrorCode.NONE)


def authenticator(
    max_reauth_ms: int = 0, before: Admission | None = None
) -> SaslServerAuthenticator:
    return SaslServerAuthenticator(
        {name: EnabledMechanism(each.how, max_reauth_ms) for name, each in ENABLED.items()},
        SaslTools(Credentials(), lambda: NOW_MS, lambda: WALL_MS, lambda: "nonce"),
        VersionsAnswers(
            _versions, lambda: ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
        ),
        reauthenticates=before,
    )


def request(message: Message, version: int) -> bytes:
    header = RequestHeader(message.__schema__.key or 0, version, 7, "test")
    return joined(encode_request(header, message))[4:]


def handshake(mechanism: str = "PLAIN", version: int = 1) -> bytes:
    return request(SaslHandshakeRequest(mechanism=mechanism), version)


def token(content: bytes = TOKEN, version: int = 2) -> bytes:
    return request(SaslAuthenticateRequest(auth_bytes=content), version)


def versions(version: int = 0) -> bytes:
    named = {"client_software_name": "a", "client_software_version": "1"}
    return request(ApiVersionsRequest(**(named if version >= 3 else {})), version)


def read(step: Step, asked: type[Message], version: int) -> Any:
    """The answer in a step, to a request of that kind."""
    answer = response_type(asked.__schema__.key or 0)
    assert answer is not None
    assert int.from_bytes(step.frame[:4]) == len(step.frame) - 4
    correlation_id, body = decode_response(answer, version, step.frame[4:])
    assert correlation_id == 7
    return body


def after(*frames: bytes, **how: Any) -> Step:
    """What the last of them leads to."""
    exchange = authenticator(**how)
    for frame in frames[:-1]:
        assert isinstance(exchange.receive(frame), Answer)
    return exchange.receive(frames[-1])


class TestAdmission:
    @pytest.mark.parametrize("version", range(3))
    def test_with_headers(self, version: int) -> None:
        step = after(versions(), handshake(), token(version=version))
        assert isinstance(step, Admission)
        assert (step.principal, step.mechanism, step.session_expires_ms) == (ALICE, "PLAIN", None)
        answer = read(step, SaslAuthenticateRequest, version)
        assert (answer.error_code, answer.auth_bytes, answer.session_lifetime_ms) == (0, b"", 0)

    def test_bare_tokens_follow_a_handshake_of_version_0(self) -> None:
        step = after(handshake(version=0), TOKEN)
        assert isinstance(step, Admission)
        assert (step.principal, step.frame) == (ALICE, bytes(4))

    def test_the_handshake_names_the_mechanisms_in_kafkas_order(self) -> None:
        answer = read(after(handshake()), SaslHandshakeRequest, 1)
        assert answer.error_code == ErrorCode.NONE
        assert answer.mechanisms == ["PLAIN", "SCRAM-SHA-256", "OAUTHBEARER"]

    def test_the_clients_own_side_is_understood(self) -> None:
        server = authenticator(max_reauth_ms=90)
        login = begin_login(PlainLogin("alice", "hush"), wall_ms=0, new_nonce=lambda: "n")
        client = SaslClientAuthenticator(login, "0")
        said: bytes | LoggedIn = client.start()
        while isinstance(said, bytes):
            said = client.receive(server.receive(said[4:]).frame[4:])
        assert said == LoggedIn(90)


class TestApiVersions:
    def test_it_may_be_asked_for_once(self) -> None:
        with pytest.raises(ProtocolError, match="ApiVersions in the SASL state"):
            after(versions(), versions())

    def test_again_after_a_version_that_is_not_served(self) -> None:
        future = (18).to_bytes(2) + (99).to_bytes(2) + (7).to_bytes(4)
        exchange = authenticator()
        step = exchange.receive(future)
        answer = read(step, ApiVersionsRequest, 0)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert isinstance(exchange.receive(versions(3)), Answer)

    def test_again_after_a_client_that_is_badly_named(self) -> None:
        step = after(request(ApiVersionsRequest(), 3), versions(3), handshake())
        assert isinstance(step, Answer)


class TestRefusals:
    def test_a_mechanism_that_is_not_enabled(self) -> None:
        step = after(versions(), handshake("SCRAM-SHA-512"))
        assert isinstance(step, Refusal)
        answer = read(step, SaslHandshakeRequest, 1)
        assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
        assert answer.mechanisms == ["PLAIN", "SCRAM-SHA-256", "OAUTHBEARER"]

    @pytest.mark.parametrize("version", range(3))
    def test_a_wrong_password(self, version: int) -> None:
        step = after(handshake(), token(b"\0alice\0guess", version))
        assert isinstance(step, Refusal)
        answer = read(step, SaslAuthenticateRequest, version)
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert answer.error_message == step.why == INVALID

    def test_of_scram_no_more_is_told_than_that_it_failed(self) -> None:
        step = after(handshake("SCRAM-SHA-256"), token(b"n,,n=nobody,r=abc"))
        answer = read(step, SaslAuthenticateRequest, 2)
        assert answer.error_message == (
            "Authentication failed during authentication due to invalid credentials with SASL "
            "mechanism SCRAM-SHA-256"
        )

    def test_bare_tokens_are_refused_without_a_word(self) -> None:
        step = after(handshake(version=0), b"\0alice\0guess")
        assert isinstance(step, Refusal)
        assert (step.frame, step.why) == (b"", INVALID)

    def test_of_bare_scram_the_connection_ends(self) -> None:
        with pytest.raises(ProtocolError, match="invalid credentials"):
            after(handshake("SCRAM-SHA-256", version=0), b"n,,n=nobody,r=abc")

    @pytest.mark.parametrize("frames", [(), (versions(),)])
    def test_another_request_instead_of_the_handshake(self, frames: tuple[bytes, ...]) -> None:
        step = after(*frames, request(MetadataRequest(topics=[]), 9))
        assert step == Refusal(
            b"", "Unexpected Kafka request of type METADATA during SASL handshake."
        )

    def test_another_request_instead_of_a_token(self) -> None:
        step = after(handshake(), handshake())
        assert isinstance(step, Refusal)
        answer = read(step, SaslHandshakeRequest, 1)
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE

    def test_of_every_topic_that_it_asks_for(self) -> None:
        asked = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
        step = after(handshake(), request(asked, 9))
        assert isinstance(step, Refusal)
        topics = read(step, MetadataRequest, 9).topics
        assert [each.error_code for each in topics] == [ErrorCode.ILLEGAL_SASL_STATE]

    def test_one_that_is_never_answered_ends_the_connection(self) -> None:
        with pytest.raises(ProtocolError, match="Unexpected Kafka request of type PRODUCE"):
            after(handshake(), request(ProduceRequest(acks=0), 9))

    def test_one_that_cannot_be_read_ends_the_connection(self) -> None:
        cut = request(LeaderAndIsrRequest(controller_id=1, controller_epoch=1), 2)[:-1]
        with pytest.raises(ProtocolError, match="LeaderAndIsr"):
            after(handshake(), cut)

    def test_apiversions_of_the_future_instead_of_a_token(self) -> None:
        future = (18).to_bytes(2) + (99).to_bytes(2) + (7).to_bytes(4) + b"\xff\xff\0"
        step = after(handshake(), future)
        answer = read(step, ApiVersionsRequest, 0)
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE

    @pytest.mark.parametrize("first", [b"", b"\x60", b"\xff" * 9, TOKEN])
    def test_what_is_no_request_is_taken_for_kerberos(self, first: bytes) -> None:
        step = after(first)
        assert isinstance(step, Refusal)
        assert "GSSAPI is not supported" in step.why

    @pytest.mark.parametrize("content", [b"", b"\xff" * 9, TOKEN])
    def test_later_it_ends_the_connection(self, content: bytes) -> None:
        with pytest.raises(ProtocolError):
            after(versions(), content)
        with pytest.raises(ProtocolError):
            after(handshake(), content)

    def test_a_server_says_no(self) -> None:
        login = begin_login(PlainLogin("alice", "guess"), wall_ms=0, new_nonce=lambda: "n")
        client, server = SaslClientAuthenticator(login, "0"), authenticator()
        said = client.receive(server.receive(client.start()[4:]).frame[4:])
        assert isinstance(said, bytes)
        with pytest.raises(NotAuthenticatedError, match=f"SASL_AUTHENTICATION_FAILED: {INVALID}"):
            client.receive(server.receive(said[4:]).frame[4:])


class TestSessions:
    """KIP-368."""

    def test_a_session_ends_as_the_broker_says(self) -> None:
        step = after(handshake(), token(), max_reauth_ms=90)
        assert isinstance(step, Admission)
        assert step.session_expires_ms == NOW_MS + 90
        assert read(step, SaslAuthenticateRequest, 2).session_lifetime_ms == 90

    @pytest.mark.parametrize(("max_reauth_ms", "lifetime_ms"), [(0, 5_000), (90, 90)])
    def test_or_with_the_credential(self, max_reauth_ms: int, lifetime_ms: int) -> None:
        bearer = make_token({"sub": "alice", "exp": WALL_MS / 1000 + 5})
        step = after(
            handshake("OAUTHBEARER"),
            token(f"n,,\x01auth=Bearer {bearer}\x01\x01".encode()),
            max_reauth_ms=max_reauth_ms,
        )
        assert isinstance(step, Admission)
        assert step.session_expires_ms == NOW_MS + lifetime_ms

    def test_the_same_principal_is_let_in_again(self) -> None:
        before = after(handshake(), token(), max_reauth_ms=90)
        step = after(handshake(), token(), max_reauth_ms=90, before=before)
        assert isinstance(step, Admission)

    def test_another_one_is_refused(self) -> None:
        before = after(handshake(), token())
        step = after(handshake(), token(b"\0bob\0hush"), before=before)
        answer = read(step, SaslAuthenticateRequest, 2)
        assert isinstance(step, Refusal)
        assert answer.error_message == (
            "Cannot change principals during re-authentication from User.alice: User.bob"
        )

    def test_another_mechanism_is_refused_with_the_next_request(self) -> None:
        before = after(handshake(), token())
        step = after(handshake("OAUTHBEARER"), token(), before=before)
        assert step == Refusal(
            b"",
            "SASL mechanism 'OAUTHBEARER' requested by client is not supported for "
            "re-authentication of mechanism 'PLAIN'",
        )

    def test_a_wrong_password_is_told_apart(self) -> None:
        before = Admission(b"", ALICE, "SCRAM-SHA-256", None)
        step = after(handshake("SCRAM-SHA-256"), token(b"n,,n=nobody,r=abc"), before=before)
        answer = read(step, SaslAuthenticateRequest, 2)
        assert "failed during re-authentication" in answer.error_message


class TestHostileBytes:
    """Whatever comes leads to a step, or to the one error that closes a connection."""

    OPENINGS = (
        (),
        (versions(),),
        *((handshake(name),) for name in ENABLED),
        (handshake("PLAIN", 0),),
    )
    GOOD = (
        versions(3),
        handshake(),
        token(),
        token(b"n,,n=alice,r=abc"),
        token(b"c=biws,r=abcnonce,p=AAAA"),
        token(f"n,,\x01auth=Bearer {make_token({'sub': 'alice', 'exp': 1})}\x01\x01".encode()),
        b"n,a=x,n=alice,r=abc,tokenauth=true",
    )

    @pytest.mark.parametrize("opening", OPENINGS, ids=len)
    def test_damaged_frames(self, opening: tuple[bytes, ...]) -> None:
        random = Random(1)
        for _ in range(1_000):
            exchange = authenticator()
            for frame in opening:
                exchange.receive(frame)
            damaged = bytearray(random.choice(self.GOOD))
            for _ in range(random.randrange(4)):
                damaged[random.randrange(len(damaged))] = random.randrange(256)
            del damaged[random.choice([len(damaged), random.randrange(len(damaged))]) :]
            with contextlib.suppress(ProtocolError):
                step = exchange.receive(bytes(damaged))
                assert isinstance(step, Answer | Admission | Refusal)

    @pytest.mark.parametrize("name", ENABLED)
    def test_damaged_tokens(self, name: str) -> None:
        random = Random(2)
        for _ in range(1_000):
            exchange = authenticator()
            exchange.receive(handshake(name))
            content = random.choice(
                [TOKEN, b"n,,n=alice,r=abc", b"n,,\x01auth=Bearer e30.e30.\x01\x01"]
            )
            damaged = bytearray(content)
            for _ in range(random.randrange(1, 4)):
                damaged[random.randrange(len(damaged))] = random.randrange(256)
            with contextlib.suppress(ProtocolError):
                assert isinstance(
                    exchange.receive(token(bytes(damaged))), Answer | Admission | Refusal
                )

    @pytest.mark.parametrize("key", ApiKey)
    def test_every_request_in_every_version_out_of_its_time(self, key: ApiKey) -> None:
        request_of_key = request_type(key)
        assert request_of_key is not None
        for version in request_of_key.__schema__.versions:
            header = key.to_bytes(2) + version.to_bytes(2) + (7).to_bytes(4) + b"\xff\xff\0"
            for opening in ((), (versions(),), (handshake(),)):
                exchange = authenticator()
                for frame in opening:
                    exchange.receive(frame)
                with contextlib.suppress(ProtocolError):
                    assert isinstance(exchange.receive(header + bytes(40)), Answer | Refusal)

    def test_a_long_name_is_not_for_the_journal(self) -> None:
        step = after(handshake("OAUTHBEARER"), token(self.claiming("x" * 1_000)))
        assert isinstance(step, Refusal)
        assert len(step.why) == 200

    def test_a_name_too_long_to_be_quoted_ends_it(self) -> None:
        with pytest.raises(ProtocolError, match="cannot be written"):
            after(handshake("OAUTHBEARER"), token(self.claiming("x" * 40_000)))

    def claiming(self, authorization_id: str) -> bytes:
        bearer = make_token({"sub": "alice", "exp": WALL_MS / 1000 + 5})
        return f"n,a={authorization_id},\x01auth=Bearer {bearer}\x01\x01".encode()
