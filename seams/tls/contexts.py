"""What Python's ssl needs, of the settings: one context a listener, one for links to brokers."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from logquake.seams.tls.settings import ClientAuth, KeyStore, TlsError, TlsSettings
from logquake.seams.tls.stores import key_material, trusted_pem

_VERSIONS = {
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
_VERIFY = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.REQUESTED: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}
_SUITES_OF_1_3 = (
    "TLS_AES_256_GCM_SHA384",
    "TLS_AES_128_GCM_SHA256",
    "TLS_CHACHA20_POLY1305_SHA256",
)


def server_context(settings: TlsSettings) -> ssl.SSLContext:
    """Raises TlsError."""
    if settings.key_store is None:
        raise TlsError("a listener with TLS needs ssl.keystore.location, or ssl.keystore.key")
    context = _context(ssl.PROTOCOL_TLS_SERVER, settings)
    context.verify_mode = _VERIFY[settings.client_auth]
    if settings.client_auth is not ClientAuth.NONE:
        _trust(context, settings)
    _load_key(context, settings.key_store)
    return context


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """Shows a certificate where there is one. Raises TlsError."""
    context = _context(ssl.PROTOCOL_TLS_CLIENT, settings)
    context.check_hostname = settings.checks_host
    _trust(context, settings)
    if settings.key_store is not None:
        _load_key(context, settings.key_store)
    return context


def _context(protocol: int, settings: TlsSettings) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    # A client that renegotiates over and over has the broker do nothing else.
    context.options |= ssl.OP_NO_RENEGOTIATION
    versions = [_VERSIONS[name] for name in settings.enabled_protocols]
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    suites = [each for each in settings.cipher_suites if each not in _SUITES_OF_1_3]
    if suites:
        try:
            context.set_ciphers(":".join(map(_name_of_openssl, suites)))
        except ssl.SSLError:
            raise TlsError(f"no suite of ssl.cipher.suites is known: {', '.join(suites)}") from None
    return context


def _name_of_openssl(suite: str) -> str:
    """TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 is ECDHE-RSA-AES256-GCM-SHA384 there."""
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = cipher.replace("AES_", "AES").replace("_CBC", "")
    cipher = cipher.replace("POLY1305_SHA256", "POLY1305")
    parts = [part for part in (exchange.removeprefix("RSA"), cipher) if part]
    return "-".join(parts).replace("_", "-")


def _trust(context: ssl.SSLContext, settings: TlsSettings) -> None:
    pem = trusted_pem(settings.trust_store)
    if pem is None:
        context.set_default_verify_paths()
        return
    try:
        context.load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError) as error:
        raise TlsError("the trust store holds no certificate in PEM") from error


def _load_key(context: ssl.SSLContext, store: KeyStore) -> None:
    material = key_material(store)
    password = (material.key_password or "").encode()
    try:
        # The one way in is a file: one that never reaches a disk.
        with _memory_file(material.pem.encode()) as path:
            # Without a password OpenSSL would ask on the terminal.
            context.load_cert_chain(path, password=lambda: password)
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or "it is no PEM"
        raise TlsError(f"the key store cannot be used: {reason}") from error


@contextmanager
def _memory_file(content: bytes) -> Iterator[str]:
    fd = os.memfd_create("key", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(fd), "wb") as file:
            file.write(content)
        yield f"/proc/self/fd/{fd}"
    finally:
        os.close(fd)
