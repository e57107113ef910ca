"""password.encoder.*: how passwords that are set at run time lie in ZooKeeper.

Java can do more ciphers and kinds of keys; another one ends the start.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.node.configs.password_encoder import (
    CBC,
    GCM,
    KEY_FACTORIES,
    KEY_LENGTHS_BITS,
    PasswordEncoderSettings,
)
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.reader import PropertyReader, refusal


def read_password_encoder(reader: PropertyReader) -> PasswordEncoderSettings:
    """Raises SettingsError."""
    secret = reader.optional("password.encoder.secret")
    default = PasswordEncoderSettings(secret)
    length_key = "password.encoder.key.length"
    length_bits = reader.integer(length_key, default.key_length_bits, minimum=8)
    if length_bits not in KEY_LENGTHS_BITS:
        allowed = " or ".join(map(str, KEY_LENGTHS_BITS))
        raise SettingsError(refusal(length_key, str(length_bits), allowed))
    return PasswordEncoderSettings(
        secret,
        old_secret=reader.optional("password.encoder.old.secret"),
        key_factory=_one_of(
            reader, "password.encoder.keyfactory.algorithm", default.key_factory, KEY_FACTORIES
        ),
        cipher=_one_of(reader, "password.encoder.cipher.algorithm", default.cipher, (CBC, GCM)),
        key_length_bits=length_bits,
        iterations=reader.integer("password.encoder.iterations", default.iterations, minimum=1024),
    )


def _one_of(reader: PropertyReader, key: str, default: str, allowed: Iterable[str]) -> str:
    value = reader.text(key, default)
    if value not in allowed:
        raise SettingsError(refusal(key, value, " or ".join(allowed)))
    return value
