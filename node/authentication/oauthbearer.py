"""OAUTHBEARER (RFC 7628) with unsecured tokens: Kafka's OAuthBearerSaslServer.

A token that is not valid is not refused at once: the client is told why in JSON, says that it
understood, and is refused with the same text.
Absent: tokens that are signed, which Kafka validates with sasl.oauthbearer.jwks.endpoint.url and a
callback handler of the name that sasl.server.callback.handler.class has to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from logquake.node.authentication.mechanism import AuthenticationRefusedError, Identity
from logquake.node.authentication.unsecured_jws import TokenRefusedError, UnsecuredValidator
from logquake.wire.sasl.mechanism import InvalidCredentialsError
from logquake.wire.sasl.oauthbearer import SEPARATOR, UNDERSTOOD

_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_VALUE = r"[\x21-\x7e \t\r\n]+"
_FIRST = re.compile(
    f"n,(?:a=(?P<authzid>{_NAME}))?,{SEPARATOR}"
    f"(?P<pairs>(?:[A-Za-z]+={_VALUE}{SEPARATOR})*){SEPARATOR}"
)
_BEARER = re.compile(r"bearer +(?P<token>[-_~+/.a-zA-Z0-9]+=*)", re.IGNORECASE | re.ASCII)


class OAuthBearerServer:
    def __init__(self, validator: UnsecuredValidator, wall_ms: Callable[[], int]) -> None:
        self._validator = validator
        self._wall_ms = wall_ms
        self._told: str | None = None
        self.identity: Identity | None = None

    def evaluate(self, token: bytes) -> bytes:
        told, self._told = self._told, None
        if told is not None and token == UNDERSTOOD:
            raise AuthenticationRefusedError(told)
        authorization_id, bearer = _read_first(token.decode(errors="replace"))
        try:
            valid = self._validator.validate(bearer, self._wall_ms())
        except TokenRefusedError as refused:
            self._told = _explain(refused)
            return self._told.encode()
        if authorization_id not in ("", valid.principal_name):
            raise AuthenticationRefusedError(
                f"Authentication failed: Client requested an authorization id "
                f"({authorization_id}) that is different from the token's principal name "
                f"({valid.principal_name})"
            )
        self.identity = Identity(valid.principal_name, valid.expires_ms)
        return b""


def _read_first(text: str) -> tuple[str, str]:
    """The authorization id, and the token."""
    found = _FIRST.fullmatch(text)
    if found is None:
        raise InvalidCredentialsError("an OAUTHBEARER message that is none")
    pairs = dict(pair.split("=", 1) for pair in found["pairs"].split(SEPARATOR) if pair)
    bearer = _BEARER.fullmatch(pairs.get("auth", ""))
    if bearer is None:
        raise InvalidCredentialsError("an OAUTHBEARER message without a bearer's token")
    return found["authzid"] or "", bearer["token"]


def _explain(refused: TokenRefusedError) -> str:
    if refused.missing_scope is None:
        return '{"status":"invalid_token"}'
    return f'{{"status":"insufficient_scope", "scope":"{refused.missing_scope}"}}'
