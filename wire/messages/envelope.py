"""Envelope: a request forwarded to the controller on a client's behalf."""

from __future__ import annotations

from logquake.wire.schema import (
    Message,
    binary,
    boolean,
    int16,
    string,
)


class EnvelopeRequest(Message, key=58, versions="0", flexible="0+"):
    """A request that a broker forwards to the controller, with its principal (KIP-590)."""

    request_data: bytes = binary()
    request_principal: bytes | None = binary(nullable="0+")
    client_host_address: bytes = binary()


class EnvelopeResponse(Message, key=58, versions="0", flexible="0+"):
    """The response that goes back to the client as it is."""

    response_data: bytes | None = binary(nullable="0+", default=None)
    error_code: int = int16()


class DefaultPrincipalData(Message, versions="0", flexible="0+"):
    """A principal in the form of Kafka's default builder, as an envelope carries it."""

    type: str = string()
    name: str = string()
    token_authenticated: bool = boolean()
