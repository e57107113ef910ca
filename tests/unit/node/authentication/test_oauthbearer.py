"""OAUTHBEARER with unsecured tokens."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from logquake.node.authentication.mechanism import AuthenticationRefusedError, Identity
from logquake.node.authentication.oauthbearer import OAuthBearerServer
from logquake.node.authentication.unsecured_jws import UnsecuredValidator
from logquake.wire.errors import ProtocolError
from logquake.wire.sasl.mechanism import InvalidCredentialsError
from logquake.wire.sasl.oauthbearer import (
    OAuthBearerClient,
    login_claims,
    make_token,
    token_of_an_hour,
)

NOW_S = 1_700_000_000
CLAIMS: dict[str, Any] = {"sub": "alice", "iat": NOW_S, "exp": NOW_S + 60}
INVALID = b'{"status":"invalid_token"}'


def server(**options: str) -> OAuthBearerServer:
    prefixed = {f"unsecuredValidator{name}": value for name, value in options.items()}
    return OAuthBearerServer(UnsecuredValidator.from_options(prefixed), lambda: NOW_S * 1000)


def message(token: str, authorization_id: str = "", scheme: str = "Bearer") -> bytes:
    authzid = f"a={authorization_id}" if authorization_id else ""
    return f"n,{authzid},\x01auth={scheme} {token}\x01\x01".encode()


def answer(exchange: OAuthBearerServer, **claims: Any) -> bytes:
    return exchange.evaluate(message(make_token({**CLAIMS, **claims})))


class TestAdmission:
    def test_the_token_says_who_it_is_and_until_when(self) -> None:
        exchange = server()
        assert answer(exchange) == b""
        assert exchange.identity == Identity("alice", (NOW_S + 60) * 1000)

    def test_by_another_claim(self) -> None:
        exchange = server(PrincipalClaimName="name")
        assert answer(exchange, name="bob") == b""
        assert exchange.identity is not None
        assert exchange.identity.name == "bob"

    def test_with_the_scope_that_is_required(self) -> None:
        assert answer(server(RequiredScope="read  write"), scope=["write", "read", 7]) == b""
        assert answer(server(RequiredScope="read"), scope="read") == b""

    def test_within_the_clock_skew(self) -> None:
        assert answer(server(AllowableClockSkewMs="10"), exp=NOW_S, iat=None) == b""

    def test_our_client_gets_in(self) -> None:
        claims = login_claims({"unsecuredLoginStringClaim_sub": "broker", "other": "x"})
        client, exchange = OAuthBearerClient(token_of_an_hour(claims, NOW_S * 1000)), server()
        assert client.respond(exchange.evaluate(client.first())) is None
        assert exchange.identity is not None
        assert exchange.identity.name == "broker"


class TestRefusals:
    @pytest.mark.parametrize(
        "claims",
        [
            {"exp": NOW_S},
            {"exp": None},
            {"exp": "soon"},
            {"exp": True},
            {"iat": NOW_S + 1},
            {"iat": "now"},
            {"iat": NOW_S + 61, "exp": NOW_S + 60},
            {"sub": None},
            {"sub": " "},
            {"sub": 7},
            {"scope": 7},
        ],
    )
    def test_a_token_that_is_not_valid(self, claims: dict[str, Any]) -> None:
        exchange = server()
        assert answer(exchange, **claims) == INVALID
        with pytest.raises(AuthenticationRefusedError) as caught:
            exchange.evaluate(b"\x01")
        assert str(caught.value) == INVALID.decode()
        assert exchange.identity is None

    def test_a_scope_that_is_missing(self) -> None:
        exchange = server(RequiredScope="read write")
        said = b'{"status":"insufficient_scope", "scope":"[read, write]"}'
        assert answer(exchange, scope="read") == said

    def test_another_authorization_id(self) -> None:
        with pytest.raises(AuthenticationRefusedError, match=r"authorization id \(bob\)"):
            server().evaluate(message(make_token(CLAIMS), "bob"))

    def test_a_client_that_understands_what_nobody_said(self) -> None:
        with pytest.raises(InvalidCredentialsError):
            server().evaluate(b"\x01")

    @pytest.mark.parametrize(
        "token",
        [
            "a.b",
            "a..",
            "a.b.c.d",
            make_token(CLAIMS) + "sig",
            make_token(CLAIMS).replace(".", ".-", 1),
            b64encode(b"[" * 99_999).decode() + ".e30.",
            b64encode(b'{"alg":NaN}').decode().rstrip("=") + ".e30.",
            b64encode(b'{"alg":"none","n":' + b"9" * 5000 + b"}").decode().rstrip("=") + ".e30.",
        ],
    )
    def test_a_token_that_is_none(self, token: str) -> None:
        assert server().evaluate(message(token)) == INVALID

    def test_a_time_beyond_all_numbers(self) -> None:
        exchange = server()
        assert answer(exchange, exp=10**400) == b""
        assert exchange.identity is not None
        assert exchange.identity.expires_ms == 2**63 - 1

    def test_a_header_without_an_algorithm_ends_it(self) -> None:
        with pytest.raises(ProtocolError):
            server().evaluate(message("e30.e30."))

    @pytest.mark.parametrize(
        "content", [b"", b"n,,", b"\0alice\0secret", message("x y"), message("x", scheme="Basic")]
    )
    def test_what_is_no_message(self, content: bytes) -> None:
        with pytest.raises(InvalidCredentialsError) as caught:
            server().evaluate(content)
        assert "secret" not in str(caught.value)

    def test_a_clock_skew_below_zero(self) -> None:
        with pytest.raises(ValueError, match="below zero"):
            server(AllowableClockSkewMs="-1")
