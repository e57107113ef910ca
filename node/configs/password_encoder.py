"""Passwords as Kafka keeps them in ZooKeeper: encrypted (EncryptingPasswordEncoder).

``keyFactoryAlgorithm:PBKDF2WithHmacSHA512,...,salt:...,iterations:4096``: whatever made the key
stands beside the encrypted password, so that only the secret must be known to read it.

The package cryptography, which takes its time to import, is loaded with the first password.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from logquake.zk.znodes.map_order import properties_order

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

KEY_FACTORIES: Mapping[str, str] = {
    "PBKDF2WithHmacSHA512": "sha512",
    "PBKDF2WithHmacSHA1": "sha1",
    "PBKDF2WithHmacSHA224": "sha224",
    "PBKDF2WithHmacSHA256": "sha256",
    "PBKDF2WithHmacSHA384": "sha384",
}
"""Java's names of what hashlib can do; the first is Kafka's default."""

CBC, GCM = "AES/CBC/PKCS5Padding", "AES/GCM/NoPadding"
KEY_LENGTHS_BITS = (128, 192, 256)

_SALT_BYTES = 256
_BLOCK_BYTES = 16
_GCM_IV_BYTES = 12
_GCM_TAG_BYTES = 16
_ITERATIONS_MAX = 1 << 24  # a znode may ask for any number: this is seconds


class PasswordError(Exception):
    """The text is of another secret, or no password; nothing of either is told."""


@dataclass(frozen=True, slots=True, repr=False)
class PasswordEncoderSettings:
    """password.encoder.*; what is encrypted already says by itself how."""

    secret: str | None
    old_secret: str | None = None
    key_factory: str = next(iter(KEY_FACTORIES))
    cipher: str = CBC
    key_length_bits: int = 128
    iterations: int = 4096


@dataclass(frozen=True, slots=True, repr=False)
class PasswordEncoder:
    """Each encoding has a salt and an initialisation vector of its own, of ``new_bytes``."""

    secret: str
    settings: PasswordEncoderSettings
    new_bytes: Callable[[int], bytes]

    def encode(self, password: str) -> str:
        how = self.settings
        salt = self.new_bytes(_SALT_BYTES)
        iv = self.new_bytes(_GCM_IV_BYTES if how.cipher == GCM else _BLOCK_BYTES)
        key = self._key(how.key_factory, salt, how.iterations, how.key_length_bits)
        fields = {
            "keyFactoryAlgorithm": how.key_factory,
            "cipherAlgorithm": how.cipher,
            "keyLength": str(how.key_length_bits),
            "salt": _text(salt),
            "iterations": str(how.iterations),
            "encryptedPassword": _text(_encrypted(how.cipher, key, iv, password.encode())),
            "passwordLength": str(_java_length(password)),
            "initializationVector": _text(iv),
        }
        if how.cipher == GCM:
            fields["authenticationTagLength"] = str(8 * _GCM_TAG_BYTES)
        return ",".join(f"{name}:{fields[name]}" for name in properties_order(fields))

    def decode(self, encoded: str) -> str:
        """Raises PasswordError."""
        try:
            fields = dict(field.split(":", 1) for field in encoded.split(","))
            iterations, bits = int(fields["iterations"]), int(fields["keyLength"])
            if not 0 < iterations <= _ITERATIONS_MAX or bits not in KEY_LENGTHS_BITS:
                raise PasswordError("it was encrypted in a way that is not known")
            factory, salt = fields["keyFactoryAlgorithm"], _bytes(fields["salt"])
            password = _decrypted(
                fields["cipherAlgorithm"],
                self._key(factory, salt, iterations, bits),
                _bytes(fields["initializationVector"]),
                _bytes(fields["encryptedPassword"]),
            ).decode()
            length = int(fields["passwordLength"])
        except (KeyError, ValueError) as error:
            raise PasswordError("it cannot be decoded with this secret") from error
        if _java_length(password) != length:
            raise PasswordError("it cannot be decoded with this secret")
        return password

    def _key(self, factory: str, salt: bytes, iterations: int, bits: int) -> bytes:
        """Raises KeyError."""
        secret = self.secret.encode()
        return hashlib.pbkdf2_hmac(KEY_FACTORIES[factory], secret, salt, iterations, bits // 8)


def _encrypted(cipher: str, key: bytes, iv: bytes, plain: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CBC as CBC_MODE
    from cryptography.hazmat.primitives.padding import PKCS7

    if cipher == GCM:
        return AESGCM(key).encrypt(iv, plain, None)
    padder = PKCS7(8 * _BLOCK_BYTES).padder()
    padded = padder.update(plain) + padder.finalize()
    return _through(Cipher(AES(key), CBC_MODE(iv)).encryptor(), padded)


def _decrypted(cipher: str, key: bytes, iv: bytes, encrypted: bytes) -> bytes:
    """Raises ValueError, KeyError for a cipher that is not known."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CBC as CBC_MODE
    from cryptography.hazmat.primitives.padding import PKCS7

    if cipher == GCM:
        try:
            return AESGCM(key).decrypt(iv, encrypted, None)
        except InvalidTag as wrong:
            raise ValueError("another key") from wrong
    if cipher != CBC:
        raise KeyError(cipher)
    padded = _through(Cipher(AES(key), CBC_MODE(iv)).decryptor(), encrypted)
    unpadder = PKCS7(8 * _BLOCK_BYTES).unpadder()
    return unpadder.update(padded) + unpadder.finalize()


def _through(context: CipherContext, data: bytes) -> bytes:
    return context.update(data) + context.finalize()


def _text(data: bytes) -> str:
    return b64encode(data).decode()


def _bytes(text: str) -> bytes:
    """Raises ValueError."""
    return b64decode(text, validate=True)


def _java_length(text: str) -> int:
    """In the units of UTF-16, as Java counts."""
    return len(text.encode("utf-16-le")) // 2
