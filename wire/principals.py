"""Who asks: org.apache.kafka.common.security.auth.KafkaPrincipal."""

from __future__ import annotations

from dataclasses import dataclass, field

_USER = "User"


@dataclass(frozen=True, slots=True)
class KafkaPrincipal:
    """A type and a name; ``str`` is ``User:alice``, as ACLs and super.users spell it.

    ``token_authenticated``: the client came in with a delegation token of that user's. Who it is
    does not depend on that, so it counts for nothing in a comparison.
    """

    type: str
    name: str
    token_authenticated: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


# Whoever came in by a listener that does not ask.
ANONYMOUS = KafkaPrincipal(_USER, "ANONYMOUS")


def parse_principal(text: object) -> KafkaPrincipal:
    """``User:alice``; the name may have colons. Raises ValueError (SecurityUtils)."""
    kind, colon, name = str(text).partition(":")
    if not colon:
        raise ValueError(f"no principal of the form type:name: {text!r}")
    return KafkaPrincipal(kind, name)
