from __future__ import annotations

import pytest

from logquake.node.authentication.mechanism import AuthenticationRefusedError, Identity
from logquake.node.authentication.plain import PlainServer
from logquake.wire.sasl.plain import PlainClient


def evaluate(token: bytes) -> Identity | None:
    exchange = PlainServer({"alice": "hush", "ümit": "schön"})
    assert exchange.evaluate(token) == b""
    return exchange.identity


@pytest.mark.parametrize("token", [b"\0alice\0hush", b"alice\0alice\0hush"])
def test_the_right_password(token: bytes) -> None:
    assert evaluate(token) == Identity("alice")


def test_names_and_passwords_are_utf_8() -> None:
    assert evaluate(PlainClient("ümit", "schön").first()) == Identity("ümit")


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b"\0alice\0guess", "Authentication failed: Invalid username or password"),
        (b"\0bob\0hush", "Authentication failed: Invalid username or password"),
        (b"\0\0hush", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (
            b"bob\0alice\0hush",
            "Authentication failed: Client requested an authorization id that is different from "
            "username",
        ),
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"\0alice", "Invalid SASL/PLAIN response: expected 3 tokens, got 2"),
        (b"\0alice\0hush\0", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\0" * 9, "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
    ],
)
def test_refusals_in_kafkas_words(token: bytes, text: str) -> None:
    with pytest.raises(AuthenticationRefusedError) as caught:
        evaluate(token)
    assert str(caught.value) == text
