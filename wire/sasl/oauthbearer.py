"""OAUTHBEARER (RFC 7628) with tokens that nobody signed (RFC 7515, appendix A.5).

Kafka's OAuthBearerSaslClient and OAuthBearerUnsecuredLoginCallbackHandler.
Absent: tokens that are fetched from sasl.oauthbearer.token.endpoint.url.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping

OAUTHBEARER = "OAUTHBEARER"
SEPARATOR = "\x01"
UNDERSTOOD = b"\x01"

_LIFETIME_S = 3600
_CLAIM_PREFIX = "unsecuredLoginStringClaim_"


class OAuthBearerClient:
    """Makes a token of an hour for each exchange, of the claims that the login module names."""

    name = OAUTHBEARER

    def __init__(self, claims: Mapping[str, str], wall_ms: int) -> None:
        now_s = wall_ms / 1000
        self._token = make_token({**claims, "iat": now_s, "exp": now_s + _LIFETIME_S})

    def first(self) -> bytes:
        return f"n,,{SEPARATOR}auth=Bearer {self._token}{SEPARATOR}{SEPARATOR}".encode()

    def respond(self, challenge: bytes) -> bytes | None:
        return UNDERSTOOD if challenge else None


def login_claims(options: Mapping[str, str]) -> dict[str, str]:
    """OAuthBearerUnsecuredLoginCallbackHandler's claims of text, from a login module's options."""
    return {
        name.removeprefix(_CLAIM_PREFIX): value
        for name, value in options.items()
        if name.startswith(_CLAIM_PREFIX)
    }


def make_token(claims: Mapping[str, object]) -> str:
    """As a client makes one: base64 without padding, no signature."""
    parts = ({"alg": "none"}, dict(claims))
    encoded = (b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return ".".join(encoded) + "."
