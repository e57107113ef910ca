"""What every SASL mechanism is to the exchange that serves it: tokens in and out, a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class AuthenticationRefusedError(Exception):
    """The client is refused, and its text is what the client is told (SaslAuthenticationException).

    It must not say more than Kafka's: whoever is refused learns nothing of what others may.
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

        Raises AuthenticationRefusedError and InvalidCredentialsError (logquake.wire.sasl); both
        are its end.
        """
