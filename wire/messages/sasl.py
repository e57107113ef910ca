"""SaslHandshakeRequest, SaslHandshakeResponse, SaslAuthenticateRequest, SaslAuthenticateResponse."""

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
    """SaslHandshakeRequest."""

    mechanism: str = string()


class SaslHandshakeResponse(Message, key=17, versions="0-1"):
    """SaslHandshakeResponse."""

    error_code: int = int16()
    mechanisms: list[str] = array(string)


class SaslAuthenticateRequest(Message, key=36, versions="0-2", flexible="2+"):
    """SaslAuthenticateRequest."""

    auth_bytes: bytes = binary()


class SaslAuthenticateResponse(Message, key=36, versions="0-2", flexible="2+"):
    """SaslAuthenticateResponse."""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    auth_bytes: bytes = binary()
    session_lifetime_ms: int = int64("1+", ignorable=True)
