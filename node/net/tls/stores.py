"""Certificates and keys, as texts of PEM, from wherever the settings say (DefaultSslEngineFactory).

The package cryptography, which takes its time to import, is needed for PKCS#12 alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.node.net.tls.settings import KeyStore, StoreType, TlsError, TrustStore

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates


@dataclass(frozen=True, slots=True, repr=False)
class KeyMaterial:
    pem: str  # the chain and the key
    key_password: str | None


def key_material(store: KeyStore) -> KeyMaterial:
    """Raises TlsError."""
    if store.key is not None or store.certificate_chain is not None:
        if store.key is None or store.certificate_chain is None:
            raise TlsError(
                "ssl.keystore.key and ssl.keystore.certificate.chain are needed together"
            )
        if store.type is not StoreType.PEM:
            raise TlsError("ssl.keystore.type=PEM is needed with ssl.keystore.key")
        pem = f"{store.certificate_chain}\n{store.key}\n"
        return KeyMaterial(pem, store.key_password)
    if store.location is None:
        raise TlsError("ssl.keystore.location is not set, and no ssl.keystore.key either")
    if store.type is StoreType.PKCS12:
        return KeyMaterial(_key_of_pkcs12(store.location, store.password), None)
    _refuse_jks("ssl.keystore", store.type, store.location)
    return KeyMaterial(_read_text(store.location), store.key_password)


def trusted_pem(store: TrustStore) -> str | None:
    """None: whom the system trusts. Raises TlsError."""
    if store.certificates is not None or store.location is None:
        return store.certificates
    if store.type is StoreType.PKCS12:
        return _certificates_of_pkcs12(store.location, store.password)
    _refuse_jks("ssl.truststore", store.type, store.location)
    return _read_text(store.location)


def _refuse_jks(prefix: str, store_type: StoreType, location: str) -> None:
    if store_type is StoreType.JKS:
        raise TlsError(
            f"{prefix}.type is JKS, which only Java reads: convert {location} with `keytool "
            f"-importkeystore -deststoretype PKCS12` and set {prefix}.type=PKCS12, or use PEM"
        )


def _read_text(location: str) -> str:
    try:
        return Path(location).read_text()
    except OSError as error:
        raise TlsError(f"cannot read {location}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TlsError(f"cannot read {location}: it is no PEM") from error


def _key_of_pkcs12(location: str, password: str | None) -> str:
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    content = _read_pkcs12(location, password)
    if content.key is None or content.cert is None:
        raise TlsError(f"{location} holds no key with its certificate")
    certificates = [content.cert, *content.additional_certs]
    pems = [each.certificate.public_bytes(Encoding.PEM) for each in certificates]
    pems.append(content.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return b"".join(pems).decode()


def _certificates_of_pkcs12(location: str, password: str | None) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    content = _read_pkcs12(location, password)
    certificates = [*content.additional_certs, *([content.cert] if content.cert else [])]
    return b"".join(each.certificate.public_bytes(Encoding.PEM) for each in certificates).decode()


def _read_pkcs12(location: str, password: str | None) -> PKCS12KeyAndCertificates:
    from cryptography.hazmat.primitives.serialization import pkcs12

    try:
        content = Path(location).read_bytes()
    except OSError as error:
        raise TlsError(f"cannot read {location}: {error.strerror}") from error
    try:
        return pkcs12.load_pkcs12(content, password.encode() if password else None)
    except ValueError as error:
        raise TlsError(f"{location} is no PKCS#12 file of that password") from error
