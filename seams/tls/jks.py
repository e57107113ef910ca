"""Java's own format of key stores (sun.security.provider.JavaKeyStore.JKS).

A list of keys with their chains and of certificates, with a digest of all of it and the password at
its end. Keys are sealed with a keystream of SHA-1 (sun.security.provider.KeyProtector), which keeps
out nobody who is in earnest: PKCS#12 and PEM are better.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = b"\xfe\xed\xfe\xed"
_WITNESS = b"Mighty Aphrodite"
_SHA1_BYTES = 20
_KEY, _CERTIFICATE = 1, 2
_VERSIONS = (1, 2)  # the second names the kind of each certificate
_SEQUENCE, _OCTETS = 0x30, 0x04


class NotReadableError(Exception):
    """It is damaged, or the password is another one; the text shows nothing of either."""


@dataclass(frozen=True, slots=True, repr=False)
class SealedKey:
    """``chain`` are certificates in DER, the key's own first."""

    sealed: bytes
    chain: list[bytes]

    def unseal(self, password: str) -> bytes:
        """The key as PKCS#8 in DER. Raises NotReadableError."""
        secret = password.encode("utf-16-be")
        salt, hidden, digest = _cut(_protected(self.sealed))
        key = bytes(a ^ b for a, b in zip(hidden, _keystream(secret, salt), strict=False))
        if not hmac.compare_digest(hashlib.sha1(secret + key).digest(), digest):
            raise NotReadableError("the password of its key is another one")
        return key


@dataclass(frozen=True, slots=True, repr=False)
class JavaStore:
    keys: list[SealedKey]
    trusted: list[bytes]  # certificates in DER


def is_jks(content: bytes) -> bool:
    return content.startswith(_MAGIC)


def read_jks(content: bytes, password: str | None) -> JavaStore:
    """Without a password nobody looks whether it was changed, as in Java.

    Raises NotReadableError.
    """
    body, digest = content[:-_SHA1_BYTES], content[-_SHA1_BYTES:]
    if password is not None:
        expected = hashlib.sha1(password.encode("utf-16-be") + _WITNESS + body).digest()
        if not hmac.compare_digest(expected, digest):
            raise NotReadableError("it is damaged, or its password is another one")
    store = JavaStore([], [])
    _Reader(body).read_into(store)
    return store


class _Reader:
    """Big-endian numbers, and texts and contents with their lengths before them."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._position = len(_MAGIC)

    def read_into(self, store: JavaStore) -> None:
        version = self._number(4)
        if version not in _VERSIONS:
            raise NotReadableError(f"it is of version {version}")
        for _ in range(self._number(4)):
            kind = self._number(4)
            self._take(self._number(2))  # its alias
            self._take(8)  # when it was made
            if kind == _KEY:
                sealed = self._take(self._number(4))
                count = self._number(4)
                store.keys.append(
                    SealedKey(sealed, [self._certificate(version) for _ in range(count)])
                )
            elif kind == _CERTIFICATE:
                store.trusted.append(self._certificate(version))
            else:
                raise NotReadableError("an entry is neither a key nor a certificate")

    def _certificate(self, version: int) -> bytes:
        if version > 1:
            self._take(self._number(2))  # X.509
        return self._take(self._number(4))

    def _number(self, size: int) -> int:
        return int.from_bytes(self._take(size))

    def _take(self, size: int) -> bytes:
        end = self._position + size
        if end > len(self._content):
            raise NotReadableError("it ends too early")
        taken = self._content[self._position : end]
        self._position = end
        return taken


def _keystream(secret: bytes, salt: bytes) -> Iterator[int]:
    digest = salt
    while True:
        digest = hashlib.sha1(secret + digest).digest()
        yield from digest


def _cut(protected: bytes) -> tuple[bytes, bytes, bytes]:
    """Salt, hidden key, digest."""
    if len(protected) < 2 * _SHA1_BYTES:
        raise NotReadableError("its key is too short")
    hidden = protected[_SHA1_BYTES:-_SHA1_BYTES]
    return protected[:_SHA1_BYTES], hidden, protected[-_SHA1_BYTES:]


def _protected(der: bytes) -> bytes:
    """The octets of an EncryptedPrivateKeyInfo, whose algorithm can only be one here."""
    info, _ = _value(der, _SEQUENCE)
    _, rest = _value(info, _SEQUENCE)
    octets, _ = _value(rest, _OCTETS)
    return octets


def _value(der: bytes, tag: int) -> tuple[bytes, bytes]:
    """Of the first value of a DER text: what is in it, and what follows it."""
    if len(der) < 2 or der[0] != tag:
        raise NotReadableError("its key is sealed in a way that is not known")
    size, start = der[1], 2
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(der[2:start])
    if start + size > len(der):
        raise NotReadableError("its key ends too early")
    return der[start : start + size], der[start + size :]
