"""OAUTHBEARER (RFC 7628) with tokens that nobody signed (RFC 7515, appendix A.5).

Kafka's OAuthBearerSaslClient and OAuthBearerUnsecuredLoginCallbackHandler.
Absent: fetching tokens from sasl.oauthbearer.token.endpoint.url; whoever has signed ones hands
them in.
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
    """One exchange, with a token."""

    name = OAUTHBEARER

    def __init__(self, token: str) -> None:
        self._token = token

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


def token_of_an_hour(claims: Mapping[str, str], wall_ms: int) -> str:
    """Unsigned, of the claims that a login module names."""
    now_s = wall_ms / 1000
    return make_token({**claims, "iat": now_s, "exp": now_s + _LIFETIME_S})


def make_token(claims: Mapping[str, object]) -> str:
    """As a client makes one: base64 without padding, no signature."""
    parts = ({"alg": "none"}, dict(claims))
    encoded = (b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return ".".join(encoded) + "."
