"""One connection's way from unknown to authenticated: Kafka's SaslServerAuthenticator.

A client asks what is served (ApiVersions, once, and it may leave that out), names its mechanism
(SaslHandshake), and sends that mechanism's tokens: in SaslAuthenticate requests after a handshake
of version 1, as bare frames after one of version 0 (KIP-152). When its session has an end it may
begin anew with a handshake (KIP-368), by the same mechanism and as the same principal.

Whatever else comes is one of two things, as in Kafka. A client that is refused is told so where it
can be told, after a while, and its connection ends: a Refusal. Bytes that make no sense end it at
once: ProtocolError.

Absent: GSSAPI.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from logquake.node.authentication.mechanism import AuthenticationRefusedError, ServerMechanism
from logquake.node.authentication.mechanisms import EnabledMechanism, SaslTools, new_exchange
from logquake.node.authentication.sasl_frames import (
    Refused,
    VersionsAnswers,
    body_of,
    failed,
    framed,
    illegal_state,
    name_of,
)
from logquake.node.authentication.sasl_steps import Admission, Answer, Refusal, Step
from logquake.wire.api import ApiKey, request_type
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import (
    LENGTH_BYTES,
    RequestHeader,
    UnsupportedVersion,
    decode_request_header,
)
from logquake.wire.messages.api_versions import ApiVersionsRequest
from logquake.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.sasl.mechanism import InvalidCredentialsError
from logquake.wire.schema import Message
from logquake.zk.znodes.map_order import properties_order

_USER = "User"
_MAX_SHOWN = 200  # characters of a reason for the journal, in which the client may have its say


class _State(Enum):
    """SaslServerAuthenticator.SaslState; how it ends is told by the step that ends it."""

    INITIAL_REQUEST = auto()  # ApiVersions, SaslHandshake, or something that is no request
    HANDSHAKE_OR_VERSIONS_REQUEST = auto()
    HANDSHAKE_REQUEST = auto()  # ApiVersions was answered
    AUTHENTICATE = auto()
    REAUTH_PROCESS_HANDSHAKE = auto()
    REAUTH_BAD_MECHANISM = auto()  # told to go on, to be refused with the next request
    ENDED = auto()


class SaslServerAuthenticator:
    """``receive`` every frame until one of them leads to an Admission or a Refusal."""

    def __init__(
        self,
        enabled: Mapping[str, EnabledMechanism],
        tools: SaslTools,
        versions: VersionsAnswers,
        *,
        reauthenticates: Admission | None = None,
    ) -> None:
        """``reauthenticates`` is what the connection was admitted as before."""
        self._enabled = enabled
        self._tools = tools
        self._versions = versions
        self._previous = reauthenticates
        self._state = (
            _State.INITIAL_REQUEST if reauthenticates is None else _State.REAUTH_PROCESS_HANDSHAKE
        )
        self._tokens_have_headers = False
        self._mechanism = ""
        self._exchange: ServerMechanism | None = None

    def receive(self, frame: bytes) -> Step:
        """The step that the frame, without its length, leads to. Raises ProtocolError."""
        try:
            if self._state is _State.REAUTH_BAD_MECHANISM:
                raise Refused(self._bad_mechanism())
            if self._exchange is None:
                return self._on_request(frame)
            if self._tokens_have_headers:
                return self._on_authenticate(frame, self._exchange)
            return self._on_bare_token(frame, self._exchange)
        except Refused as refused:
            self._state = _State.ENDED
            return Refusal(refused.frame, str(refused)[:_MAX_SHOWN])

    # Before a mechanism is agreed on

    def _on_request(self, frame: bytes) -> Answer:
        try:
            header, start = decode_request_header(frame)
        except UnsupportedVersion as unsupported:
            header, start = unsupported.header, len(frame)
            if request_type(header.api_key) is None:
                raise self._no_request() from None
        except ProtocolError:
            raise self._no_request() from None
        if self._state is _State.INITIAL_REQUEST:
            self._state = _State.HANDSHAKE_OR_VERSIONS_REQUEST
        if header.api_key == ApiKey.API_VERSIONS:
            return self._on_api_versions(header, frame, start)
        if header.api_key == ApiKey.SASL_HANDSHAKE:
            return self._on_handshake(header, body_of(SaslHandshakeRequest, header, frame, start))
        raise Refused(
            f"Unexpected Kafka request of type {name_of(header.api_key)} during SASL handshake."
        )

    def _no_request(self) -> Refused | ProtocolError:
        """A client of Kafka 0.9 begins with a token of GSSAPI."""
        if self._state is _State.INITIAL_REQUEST:
            return Refused(
                "Exception handling first SASL packet from client, GSSAPI is not supported by "
                "server"
            )
        return ProtocolError("no request where a SASL handshake is expected")

    def _on_api_versions(self, header: RequestHeader, frame: bytes, start: int) -> Answer:
        if self._state is not _State.HANDSHAKE_OR_VERSIONS_REQUEST:
            raise ProtocolError(f"ApiVersions in the SASL state {self._state.name}")
        if header.api_version not in ApiVersionsRequest.__schema__.versions:
            return Answer(framed(header, self._versions.unsupported(), version=0))
        body = body_of(ApiVersionsRequest, header, frame, start)
        answer = self._versions.answer(header.api_version, body)
        if answer.error_code == ErrorCode.NONE:
            self._state = _State.HANDSHAKE_REQUEST
        return Answer(framed(header, answer))

    def _on_handshake(self, header: RequestHeader, body: SaslHandshakeRequest) -> Answer:
        self._tokens_have_headers = header.api_version >= 1
        enabled = self._enabled.get(body.mechanism)
        answer = SaslHandshakeResponse(mechanisms=properties_order(self._enabled))
        if enabled is None:
            answer.error_code = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            raise Refused("Unsupported SASL mechanism", framed(header, answer))
        self._mechanism = body.mechanism
        if self._previous is not None and self._previous.mechanism != body.mechanism:
            self._state = _State.REAUTH_BAD_MECHANISM
        else:
            self._state = _State.AUTHENTICATE
            self._exchange = new_exchange(enabled, self._tools)
        return Answer(framed(header, answer))

    def _bad_mechanism(self) -> str:
        previous = self._previous.mechanism if self._previous else ""
        return (
            f"SASL mechanism '{self._mechanism}' requested by client is not supported for "
            f"re-authentication of mechanism '{previous}'"
        )

    # Tokens

    def _on_bare_token(self, token: bytes, exchange: ServerMechanism) -> Step:
        """Such a client can't be told why it is refused."""
        try:
            answer = exchange.evaluate(token)
            lifetime_ms = self._session_lifetime_ms(exchange)
            principal = self._principal(exchange)
        except AuthenticationRefusedError as refused:
            raise Refused(str(refused)) from None
        except InvalidCredentialsError:
            raise ProtocolError(self._invalid_credentials()) from None
        reply = len(answer).to_bytes(LENGTH_BYTES) + answer
        return self._go_on(reply, principal, lifetime_ms)

    def _on_authenticate(self, frame: bytes, exchange: ServerMechanism) -> Step:
        header, body = _read(frame)
        if not isinstance(body, SaslAuthenticateRequest):
            raise illegal_state(
                header,
                body,
                f"Unexpected Kafka request of type {name_of(header.api_key)} during SASL "
                "authentication.",
            )
        try:
            token = exchange.evaluate(bytes(body.auth_bytes))
            principal = self._principal(exchange)
        except AuthenticationRefusedError as refused:
            raise failed(header, str(refused)) from None
        except InvalidCredentialsError:
            raise failed(header, self._invalid_credentials()) from None
        lifetime_ms = self._session_lifetime_ms(exchange)
        answer = SaslAuthenticateResponse(auth_bytes=token, session_lifetime_ms=lifetime_ms or 0)
        return self._go_on(framed(header, answer), principal, lifetime_ms)

    def _go_on(
        self, frame: bytes, principal: KafkaPrincipal | None, lifetime_ms: int | None
    ) -> Answer | Admission:
        if principal is None:
            return Answer(frame)
        self._state = _State.ENDED
        expires_ms = None if lifetime_ms is None else self._tools.now_ms() + lifetime_ms
        return Admission(frame, principal, self._mechanism, expires_ms)

    def _principal(self, exchange: ServerMechanism) -> KafkaPrincipal | None:
        """None while the exchange goes on. Raises AuthenticationRefusedError for another one."""
        identity = exchange.identity
        if identity is None:
            return None
        principal = KafkaPrincipal(_USER, identity.name, identity.token_authenticated)
        if self._previous is not None and self._previous.principal != principal:
            before = self._previous.principal
            raise AuthenticationRefusedError(
                "Cannot change principals during re-authentication from "
                f"{before.type}.{before.name}: {principal.type}.{principal.name}"
            )
        return principal

    def _session_lifetime_ms(self, exchange: ServerMechanism) -> int | None:
        """Until the credential ends or connections.max.reauth.ms is over; None for no end."""
        identity = exchange.identity
        if identity is None:
            return None
        lifetimes = []
        if identity.expires_ms is not None:
            lifetimes.append(identity.expires_ms - self._tools.wall_ms())
        if self._enabled[self._mechanism].max_reauth_ms > 0:
            lifetimes.append(self._enabled[self._mechanism].max_reauth_ms)
        return max(0, min(lifetimes)) if lifetimes else None

    def _invalid_credentials(self) -> str:
        what = "authentication" if self._previous is None else "re-authentication"
        return (
            f"Authentication failed during {what} due to invalid credentials with SASL mechanism "
            f"{self._mechanism}"
        )


def _read(frame: bytes) -> tuple[RequestHeader, Message]:
    """Of a version of ApiVersions that there is not yet, as of version 0. Raises ProtocolError."""
    try:
        header, start = decode_request_header(frame)
    except UnsupportedVersion as unsupported:
        if unsupported.header.api_key != ApiKey.API_VERSIONS:
            raise
        return unsupported.header._replace(api_version=0), ApiVersionsRequest()
    request = request_type(header.api_key)
    assert request is not None
    return header, body_of(request, header, frame, start)
