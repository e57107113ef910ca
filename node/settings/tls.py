"""The ssl.* keys of a listener: Kafka's SslConfigs."""

from __future__ import annotations

from logquake.node.settings.errors import SettingsError
from logquake.node.settings.reader import ListenerReader, refusal
from logquake.seams.tls.settings import (
    ClientAuth,
    KeyStore,
    StoreType,
    TlsSettings,
    TrustStore,
)

_PROTOCOLS = ("TLSv1.2", "TLSv1.3")
_HTTPS = "https"


def read_tls(own: ListenerReader, *, uses_sasl: bool) -> TlsSettings:
    """Raises SettingsError."""
    return TlsSettings(
        key_store=_read_key_store(own),
        trust_store=_read_trust_store(own),
        client_auth=_read_client_auth(own, uses_sasl=uses_sasl),
        enabled_protocols=_read_protocols(own),
        cipher_suites=tuple(own.reader.names(own.key("ssl.cipher.suites"), [])),
        checks_host=_read_checks_host(own),
    )


def _read_key_store(own: ListenerReader) -> KeyStore | None:
    store = KeyStore(
        _read_type(own, "ssl.keystore.type"),
        location=_optional(own, "ssl.keystore.location"),
        password=_optional(own, "ssl.keystore.password"),
        key_password=_optional(own, "ssl.key.password"),
        certificate_chain=_optional(own, "ssl.keystore.certificate.chain"),
        key=_optional(own, "ssl.keystore.key"),
    )
    if store.location is None and store.key is None and store.certificate_chain is None:
        return None
    return store


def _read_trust_store(own: ListenerReader) -> TrustStore:
    return TrustStore(
        _read_type(own, "ssl.truststore.type"),
        location=_optional(own, "ssl.truststore.location"),
        password=_optional(own, "ssl.truststore.password"),
        certificates=_optional(own, "ssl.truststore.certificates"),
    )


def _read_type(own: ListenerReader, key: str) -> StoreType:
    return own.reader.choice(own.key(key), StoreType.JKS)


def _optional(own: ListenerReader, key: str) -> str | None:
    return own.reader.optional(own.key(key))


def _read_client_auth(own: ListenerReader, *, uses_sasl: bool) -> ClientAuth:
    """A SASL listener asks for certificates where its own key says so alone (KIP-684)."""
    key = "ssl.client.auth"
    return own.reader.choice(own.own_key(key) if uses_sasl else own.key(key), ClientAuth.NONE)


def _read_protocols(own: ListenerReader) -> tuple[str, ...]:
    key = own.key("ssl.enabled.protocols")
    names = own.reader.names(key, _PROTOCOLS)
    for name in names:
        if name not in _PROTOCOLS:
            raise SettingsError(refusal(key, name, " or ".join(_PROTOCOLS)))
    return tuple(names)


def _read_checks_host(own: ListenerReader) -> bool:
    """Set to nothing, the key switches the check off."""
    key = own.key("ssl.endpoint.identification.algorithm")
    value = own.reader.given(key)
    if value is None or value.lower() == _HTTPS:
        return True
    if value:
        raise SettingsError(refusal(key, value, f"{_HTTPS} or nothing"))
    return False
