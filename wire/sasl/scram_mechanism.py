"""SCRAM's keys (RFC 5802, RFC 7677): Kafka's ScramMechanism and ScramFormatter."""

from __future__ import annotations

import hashlib
import hmac
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


def xor(first: bytes, second: bytes) -> bytes:
    """Of two byte strings of one length."""
    return (int.from_bytes(first) ^ int.from_bytes(second)).to_bytes(len(first))
