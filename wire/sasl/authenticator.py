"""Telling a broker who we are: Kafka's SaslClientAuthenticator.

A handshake of version 1 and SaslAuthenticate, which brokers serve since 1.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from logquake.wire.sasl.mechanism import ClientMechanism, InvalidCredentialsError
from logquake.wire.schema import Message

M = TypeVar("M", bound=Message)

_HANDSHAKE_VERSION = 1
_AUTHENTICATE_VERSION = 2  # at most


class NotAuthenticatedError(Exception):
    """The broker does not let us in; the text says why, and nothing that is secret."""


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """``session_lifetime_ms`` is when to authenticate anew, 0 for never (KIP-368)."""

    session_lifetime_ms: int


class SaslClientAuthenticator:
    """``start``, then ``receive`` every answer; what they return is sent as it is.

    ``at_most`` is the newest SaslAuthenticate that the broker speaks: of what it speaks a client
    has asked, and brokers of one release know it of each other.
    """

    def __init__(
        self, mechanism: ClientMechanism, client_id: str, *, at_most: int = _AUTHENTICATE_VERSION
    ) -> None:
        self._version = min(at_most, _AUTHENTICATE_VERSION)
        self._mechanism = mechanism
        self._client_id = client_id
        self._correlation_id = 0
        self._agreed = False

    def start(self) -> bytes:
        """Raises NotAuthenticatedError."""
        if self._version < 0:
            raise NotAuthenticatedError("the broker speaks no SaslAuthenticate, or no SASL at all")
        return self._request(SaslHandshakeRequest(mechanism=self._mechanism.name))

    def receive(self, frame: bytes) -> bytes | LoggedIn:
        """Raises NotAuthenticatedError, and ProtocolError for what is no answer."""
        if not self._agreed:
            self._on_handshake(self._answer(SaslHandshakeResponse, _HANDSHAKE_VERSION, frame))
            return self._token(self._mechanism.first())
        answer = self._answer(SaslAuthenticateResponse, self._version, frame)
        if answer.error_code != ErrorCode.NONE:
            raise NotAuthenticatedError(f"{_name(answer.error_code)}: {answer.error_message}")
        try:
            token = self._mechanism.respond(bytes(answer.auth_bytes))
        except InvalidCredentialsError as error:
            raise NotAuthenticatedError(str(error)) from None
        return LoggedIn(answer.session_lifetime_ms) if token is None else self._token(token)

    def _on_handshake(self, answer: SaslHandshakeResponse) -> None:
        if answer.error_code == ErrorCode.ILLEGAL_SASL_STATE:
            raise NotAuthenticatedError(
                f"{_name(answer.error_code)}: nobody logs in there by SASL, as on a listener whose "
                "security.protocol is PLAINTEXT or SSL"
            )
        if answer.error_code != ErrorCode.NONE:
            raise NotAuthenticatedError(
                f"{_name(answer.error_code)}: {self._mechanism.name} is not one of "
                f"{', '.join(answer.mechanisms)}"
            )
        self._agreed = True

    def _token(self, token: bytes) -> bytes:
        return self._request(SaslAuthenticateRequest(auth_bytes=token))

    def _request(self, request: SaslHandshakeRequest | SaslAuthenticateRequest) -> bytes:
        if isinstance(request, SaslHandshakeRequest):
            key, version = ApiKey.SASL_HANDSHAKE, _HANDSHAKE_VERSION
        else:
            key, version = ApiKey.SASL_AUTHENTICATE, self._version
        self._correlation_id += 1
        header = RequestHeader(key, version, self._correlation_id, self._client_id)
        return b"".join(
            bytes(part)
            for part in encode_request(header, request)
            if isinstance(part, (bytes, memoryview))
        )

    def _answer(self, response: type[M], version: int, frame: bytes) -> M:
        correlation_id, answer = decode_response(response, version, frame)
        if correlation_id != self._correlation_id:
            raise ProtocolError(f"an answer to request {correlation_id} amid authentication")
        return answer


def _name(code: int) -> str:
    return ErrorCode.of_peer(code).name
