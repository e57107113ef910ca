"""What a broker keeps of a password for SCRAM (ScramFormatter, ScramCredentialUtils).

A credential lets its holder check a password and not know it.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass

from logquake.wire.sasl.scram_mechanism import ScramMechanism


@dataclass(frozen=True, slots=True, repr=False)
class ScramCredential:
    """One user's for one mechanism. Its text stands in /config/users; it is never shown."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    @classmethod
    def of(
        cls, mechanism: ScramMechanism, salted_password: bytes, salt: bytes, iterations: int
    ) -> ScramCredential:
        """Of a salted password, which is what clients send to have a user made (KIP-554)."""
        stored_key = mechanism.hash(mechanism.client_key(salted_password))
        return cls(salt, stored_key, mechanism.server_key(salted_password), iterations)

    def encode(self) -> str:
        """ScramCredentialUtils.credentialToString."""
        return (
            f"salt={_text(self.salt)},stored_key={_text(self.stored_key)},"
            f"server_key={_text(self.server_key)},iterations={self.iterations}"
        )

    @classmethod
    def decode(cls, text: str) -> ScramCredential:
        """Raises ValueError, whose text says nothing of the credential's."""
        try:
            values = dict(part.split("=", 1) for part in text.split(","))
            if set(values) != {"salt", "stored_key", "server_key", "iterations"}:
                raise ValueError
            return cls(
                b64decode(values["salt"], validate=True),
                b64decode(values["stored_key"], validate=True),
                b64decode(values["server_key"], validate=True),
                int(values["iterations"]),
            )
        except ValueError:
            raise ValueError("Credentials not valid") from None


def _text(content: bytes) -> str:
    return b64encode(content).decode()
