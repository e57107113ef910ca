"""PLAIN (RFC 4616): user and password in one token, compared with a list.

Kafka's PlainSaslServer and PlainServerCallbackHandler: the users are the options ``user_<name>``
of the login module in sasl.jaas.config.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from logquake.node.authentication.mechanism import AuthenticationRefusedError, Identity

_MAX_TOKENS = 4  # one more than there may be: the rest is not looked at


class PlainServer:
    """``passwords`` by user."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = passwords
        self.identity: Identity | None = None

    def evaluate(self, token: bytes) -> bytes:
        authorization_id, user, password = _tokens(token.decode(errors="replace"))
        if not user:
            raise AuthenticationRefusedError("Authentication failed: username not specified")
        if not password:
            raise AuthenticationRefusedError("Authentication failed: password not specified")
        if not self._is_right(user, password):
            raise AuthenticationRefusedError("Authentication failed: Invalid username or password")
        if authorization_id not in ("", user):
            raise AuthenticationRefusedError(
                "Authentication failed: Client requested an authorization id that is different "
                "from username"
            )
        self.identity = Identity(user)
        return b""

    def _is_right(self, user: str, password: str) -> bool:
        """In a time that does not depend on how much of the password is right."""
        expected = self._passwords.get(user)
        return expected is not None and hmac.compare_digest(expected.encode(), password.encode())


def _tokens(text: str) -> tuple[str, str, str]:
    tokens = text.split("\0", _MAX_TOKENS)[:_MAX_TOKENS]
    if len(tokens) != 3:
        raise AuthenticationRefusedError(
            f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(tokens)}"
        )
    return tokens[0], tokens[1], tokens[2]
