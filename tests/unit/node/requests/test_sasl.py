"""SASL requests where nothing is to be authenticated, in every version."""

from __future__ import annotations

import pytest

from logquake.wire.errors import ErrorCode
from logquake.wire.messages.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from tests.unit.node.requests.lone_broker import LoneBroker


@pytest.mark.parametrize("version", range(2))
def test_a_handshake(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(SaslHandshakeRequest(mechanism="PLAIN"), version)
    assert (reply.error_code, reply.mechanisms) == (ErrorCode.ILLEGAL_SASL_STATE, [])


@pytest.mark.parametrize("version", range(3))
def test_a_token(broker: LoneBroker, version: int) -> None:
    reply = broker.ask(SaslAuthenticateRequest(auth_bytes=b"\0alice\0hush"), version)
    assert reply.error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert (
        reply.error_message == "SaslAuthenticate request received after successful authentication"
    )
