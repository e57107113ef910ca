"""What every SASL mechanism is to the exchange that carries it: tokens in and out, a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class AuthenticationRefusedError(Exception):
    """The client is refused, and its text is what the client is told (SaslAuthenticationException).

    It must not say more than Kafka's: whoever is refused learns nothing of what others may.
    """


class InvalidCredentialsError(Exception):
    """The client is refused in the words of all such refusals (javax.security.sasl.SaslException).

    Its text is for nobody but a developer: neither a client nor the journal is told. Nothing that
    the client sent may be in it all the same; who mistakes the mechanism sends a password.
    """


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a mechanism let in.

    ``expires_ms`` is the wall-clock time at which the credential ends, None without an end.
    """

    name: str
    expires_ms: int | None = None
    token_authenticated: bool = False


class ServerMechanism(Protocol):
    """One exchange of one client; ``identity`` is None until it is complete."""

    @property
    def identity(self) -> Identity | None: ...

    def evaluate(self, token: bytes) -> bytes:
        """The answer to the client's next token.

        Raises AuthenticationRefusedError and InvalidCredentialsError; both are its end.
        """


class ClientMechanism(Protocol):
    """The same from the client's side: ``first`` opens it, ``respond`` answers each challenge."""

    name: str

    def first(self) -> bytes: ...

    def respond(self, challenge: bytes) -> bytes | None:
        """The next token, None when the server has said all that it had to.

        Raises InvalidCredentialsError: it is not the server that knows our password.
        """
