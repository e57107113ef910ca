"""EnvelopeRequest, EnvelopeResponse, DefaultPrincipalData."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    binary,
    boolean,
    int16,
    string,
)


class EnvelopeRequest(Message, key=58, versions="0", flexible="0+"):
    """EnvelopeRequest."""

    request_data: bytes = binary()
    request_principal: bytes | None = binary(nullable="0+")
    client_host_address: bytes = binary()


class EnvelopeResponse(Message, key=58, versions="0", flexible="0+"):
    """EnvelopeResponse."""

    response_data: bytes | None = binary(nullable="0+", default=None)
    error_code: int = int16()


class DefaultPrincipalData(Message, versions="0", flexible="0+"):
    """DefaultPrincipalData."""

    type: str = string()
    name: str = string()
    token_authenticated: bool = boolean()
