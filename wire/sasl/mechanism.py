"""What every SASL mechanism is to the client's exchange that carries it: tokens in and out."""

from __future__ import annotations

from typing import Protocol


class InvalidCredentialsError(Exception):
    """The client is refused in the words of all such refusals (javax.security.sasl.SaslException).

    Its text is for nobody but a developer: neither a client nor the journal is told. Nothing that
    the client sent may be in it all the same; who mistakes the mechanism sends a password.
    """


class ClientMechanism(Protocol):
    """One exchange: ``first`` opens it, ``respond`` answers each challenge."""

    name: str

    def first(self) -> bytes: ...

    def respond(self, challenge: bytes) -> bytes | None:
        """The next token, None when the server has said all that it had to.

        Raises InvalidCredentialsError: it is not the server that knows our password.
        """
