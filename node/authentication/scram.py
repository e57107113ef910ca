"""SCRAM's keys (RFC 5802, RFC 7677), and what a broker keeps of a password.

Kafka's ScramMechanism, ScramFormatter and ScramCredentialUtils. A credential lets its holder check
a password and not know it.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from dataclasses import dataclass
from enum import Enum


class ScramMechanism(Enum):
    """``value`` is the name that clients ask for."""

    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"

    @property
    def type_id(self) -> int:
        """As AlterUserScramCredentials numbers it."""
        return 1 if self is ScramMechanism.SCRAM_SHA_256 else 2

    @property
    def hash_name(self) -> str:
        return "sha256" if self is ScramMechanism.SCRAM_SHA_256 else "sha512"

    @property
    def min_iterations(self) -> int:
        return 4096

    @property
    def max_iterations(self) -> int:
        return 16384

    def hash(self, content: bytes) -> bytes:
        return hashlib.new(self.hash_name, content).digest()

    def hmac(self, key: bytes, content: bytes) -> bytes:
        return hmac.digest(key, content, self.hash_name)

    def salted_password(self, password: str, salt: bytes, iterations: int) -> bytes:
        """Takes as long as the iterations say: a few milliseconds for Kafka's."""
        return hashlib.pbkdf2_hmac(self.hash_name, password.encode(), salt, iterations)

    def client_key(self, salted_password: bytes) -> bytes:
        return self.hmac(salted_password, b"Client Key")

    def server_key(self, salted_password: bytes) -> bytes:
        return self.hmac(salted_password, b"Server Key")


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
