"""Authentication by SASL."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    array,
    binary,
    int16,
    int64,
    string,
)


class SaslHandshakeRequest(Message, key=17, versions="0-1"):
    """The mechanism by which the client wants to authenticate (KIP-43).

    0: raw SASL tokens follow. 1: SaslAuthenticate requests follow (KIP-152). Never flexible.
    """

    mechanism: str = string()


class SaslHandshakeResponse(Message, key=17, versions="0-1"):
    """The mechanisms that the broker has."""

    error_code: int = int16()
    mechanisms: list[str] = array(string)


class SaslAuthenticateRequest(Message, key=36, versions="0-2", flexible="2+"):
    """One token of the client (KIP-152).

    2: flexible.
    """

    auth_bytes: bytes = binary()


class SaslAuthenticateResponse(Message, key=36, versions="0-2", flexible="2+"):
    """One token of the broker, or why it refused.

    1: session_lifetime_ms (KIP-368). 2: flexible.
    """

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    auth_bytes: bytes = binary()
    session_lifetime_ms: int = int64("1+", ignorable=True)
