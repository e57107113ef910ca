"""SaslHandshake (17), versions 0-1, and SaslAuthenticate (36), versions 0-2, out of their time.

Where a client authenticates, its connection takes these (node/net/sasl_gate.py). What arrives here
came by a listener without SASL, or after authentication where there is nothing to renew.
"""

from __future__ import annotations

from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)


class SaslHandshake(Handler[SaslHandshakeRequest]):
    key = ApiKey.SASL_HANDSHAKE
    versions = range(2)

    def handle(self, request: Request, _: SaslHandshakeRequest, /) -> None:
        request.reply(SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE))


class SaslAuthenticate(Handler[SaslAuthenticateRequest]):
    key = ApiKey.SASL_AUTHENTICATE
    versions = range(3)

    def handle(self, request: Request, _: SaslAuthenticateRequest, /) -> None:
        request.reply(
            SaslAuthenticateResponse(
                error_code=ErrorCode.ILLEGAL_SASL_STATE,
                error_message="SaslAuthenticate request received after successful authentication",
            )
        )
