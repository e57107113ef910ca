"""Certificates and keys, as texts of PEM, from wherever the settings say (DefaultSslEngineFactory).

What is no PEM is Java's own format or PKCS#12, whichever of the two the type says: Java looks
into the file, too, and keytool makes PKCS#12 unless it is told otherwise. The package cryptography,
which takes its time to import, is needed for PKCS#12 alone.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from logquake.seams.tls.jks import JavaStore, NotReadableError, is_jks, read_jks
from logquake.seams.tls.settings import KeyStore, StoreType, TlsError, TrustStore

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates


@dataclass(frozen=True, slots=True, repr=False)
class KeyMaterial:
    pem: str  # the chain and the key
    key_password: str | None


def key_material(store: KeyStore) -> KeyMaterial:
    """Raises TlsError."""
    if store.key is not None or store.certificate_chain is not None:
        return _given_material(store)
    if store.location is None:
        raise TlsError("ssl.keystore.location is not set, and no ssl.keystore.key either")
    if store.type is StoreType.PEM:
        return KeyMaterial(_read_text(store.location), store.key_password)
    content = _read_bytes(store.location)
    if not is_jks(content):
        return KeyMaterial(_key_of_pkcs12(store.location, content, store.password), None)
    return KeyMaterial(_key_of_jks(store, store.location, content), None)


def trusted_pem(store: TrustStore) -> str | None:
    """None: whom the system trusts. Raises TlsError."""
    if store.certificates is not None or store.location is None:
        return store.certificates
    if store.type is StoreType.PEM:
        return _read_text(store.location)
    content = _read_bytes(store.location)
    if not is_jks(content):
        return _certificates_of_pkcs12(store.location, content, store.password)
    found = _read_jks(store.location, content, store.password)
    trusted = [*found.trusted, *(each for key in found.keys for each in key.chain[:1])]
    return "".join(_as_pem("CERTIFICATE", each) for each in trusted)


def _given_material(store: KeyStore) -> KeyMaterial:
    if store.key is None or store.certificate_chain is None:
        raise TlsError("ssl.keystore.key and ssl.keystore.certificate.chain are needed together")
    if store.type is not StoreType.PEM:
        raise TlsError("ssl.keystore.type=PEM is needed with ssl.keystore.key")
    return KeyMaterial(f"{store.certificate_chain}\n{store.key}\n", store.key_password)


def _read_text(location: str) -> str:
    try:
        return _read_bytes(location).decode()
    except UnicodeDecodeError as error:
        raise TlsError(f"cannot read {location}: it is no PEM") from error


def _read_bytes(location: str) -> bytes:
    try:
        return Path(location).read_bytes()
    except OSError as error:
        raise TlsError(f"cannot read {location}: {error.strerror}") from error


def _as_pem(what: str, der: bytes) -> str:
    lines = "\n".join(wrap(b64encode(der).decode(), 64))
    return f"-----BEGIN {what}-----\n{lines}\n-----END {what}-----\n"


def _key_of_jks(store: KeyStore, location: str, content: bytes) -> str:
    """Its first key, which has the store's password unless it was given one of its own."""
    found = _read_jks(location, content, store.password)
    password = store.key_password or store.password
    if not found.keys or password is None:
        raise TlsError(f"{location} holds no key, or no password of it is set")
    try:
        key = found.keys[0].unseal(password)
    except NotReadableError as error:
        raise TlsError(f"cannot use {location}: {error}") from None
    chain = (_as_pem("CERTIFICATE", each) for each in found.keys[0].chain)
    return "".join([*chain, _as_pem("PRIVATE KEY", key)])


def _read_jks(location: str, content: bytes, password: str | None) -> JavaStore:
    try:
        return read_jks(content, password)
    except NotReadableError as error:
        raise TlsError(f"cannot use {location}: {error}") from None


def _key_of_pkcs12(location: str, content: bytes, password: str | None) -> str:
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    found = _read_pkcs12(location, content, password)
    if found.key is None or found.cert is None:
        raise TlsError(f"{location} holds no key with its certificate")
    certificates = [found.cert, *found.additional_certs]
    pems = [each.certificate.public_bytes(Encoding.PEM) for each in certificates]
    pems.append(found.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return b"".join(pems).decode()


def _certificates_of_pkcs12(location: str, content: bytes, password: str | None) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    found = _read_pkcs12(location, content, password)
    certificates = [*found.additional_certs, *([found.cert] if found.cert else [])]
    return b"".join(each.certificate.public_bytes(Encoding.PEM) for each in certificates).decode()


def _read_pkcs12(location: str, content: bytes, password: str | None) -> PKCS12KeyAndCertificates:
    from cryptography.hazmat.primitives.serialization import pkcs12

    try:
        return pkcs12.load_pkcs12(content, password.encode() if password else None)
    except ValueError as error:
        is_pem = content.lstrip().startswith(b"-----BEGIN ")
        hint = ", but one of PEM: its type has to be PEM" if is_pem else " of that password"
        raise TlsError(f"{location} is no PKCS#12 file{hint}") from error
