"""PLAIN (RFC 4616): user and password in one token."""

from __future__ import annotations

PLAIN = "PLAIN"


class PlainClient:
    name = PLAIN

    def __init__(self, user: str, password: str) -> None:
        self._token = f"\0{user}\0{password}".encode()

    def first(self) -> bytes:
        return self._token

    def respond(self, _challenge: bytes) -> bytes | None:
        return None
