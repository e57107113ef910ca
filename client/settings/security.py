"""How a client authenticates and encrypts (SslConfigs, SaslConfigs)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from logquake.client.errors import SettingsError
from logquake.client.settings.keys import key, secret_key
from logquake.client.settings.kinds import Function, Given, Maybe, Names, Text, member_of
from logquake.seams.tls.settings import KeyStore, StoreType, TlsSettings, TrustStore
from logquake.wire.sasl.jaas import JaasError
from logquake.wire.sasl.logins import (
    LOGIN_MODULES,
    Login,
    TokenLogin,
    login_module_of,
    login_of,
)
from logquake.wire.sasl.oauthbearer import OAUTHBEARER

_TLS_VERSIONS = ("TLSv1.2", "TLSv1.3")


class Protocol(Enum):
    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        return self in (Protocol.SSL, Protocol.SASL_SSL)

    @property
    def has_sasl(self) -> bool:
        return self in (Protocol.SASL_PLAINTEXT, Protocol.SASL_SSL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityConfig:
    # What is spoken. Without TLS, PLAIN and OAUTHBEARER show their secrets to whoever listens.
    security_protocol: Protocol = key(Protocol.PLAINTEXT, member_of(Protocol, in_any_case=True))
    # How we say who we are. GSSAPI, Kafka's default, is Kerberos, which is not spoken here.
    sasl_mechanism: str = key("GSSAPI", Text())
    # A login module with its options: user, password.
    sasl_jaas_config: str | None = secret_key(None, Maybe(Text()))
    # For OAUTHBEARER: a function that returns the token to show. It is called for each login, on
    # the client's thread, or one of the executor of asyncio's loop, with nothing locked. One that
    # fetches tokens should keep them while they last: the client's thread waits for it.
    sasl_login_callback_handler_class: Any = key(None, Maybe(Function()))
    # The least and the highest are taken, and what is between.
    ssl_enabled_protocols: tuple[str, ...] = key(_TLS_VERSIONS, Names(_TLS_VERSIONS))
    # Of TLS 1.2, by Java's names; None for what OpenSSL takes.
    ssl_cipher_suites: tuple[str, ...] | None = key(None, Maybe(Names()))
    # Whether a broker's certificate has to be of the host that was connected to. Without it
    # whoever has any certificate of a trusted authority can be in the middle.
    ssl_endpoint_identification_algorithm: str = key(
        "https", Text("https, or nothing,", r"(?i:https)?")
    )
    # An ssl.SSLContext of the program's own, in the place of all keys below.
    ssl_engine_factory_class: Any = key(None, Maybe(Given()))
    # Who we are, where brokers want certificates: a file, or texts of PEM.
    ssl_keystore_type: StoreType = key(StoreType.JKS, member_of(StoreType, in_any_case=True))
    ssl_keystore_location: str | None = key(None, Maybe(Text()))
    ssl_keystore_password: str | None = secret_key(None, Maybe(Text()))
    ssl_keystore_key: str | None = secret_key(None, Maybe(Text()))
    ssl_keystore_certificate_chain: str | None = secret_key(None, Maybe(Text()))
    ssl_key_password: str | None = secret_key(None, Maybe(Text()))
    # Whom we trust; without any of them, whom the system trusts.
    ssl_truststore_type: StoreType = key(StoreType.JKS, member_of(StoreType, in_any_case=True))
    ssl_truststore_location: str | None = key(None, Maybe(Text()))
    ssl_truststore_password: str | None = secret_key(None, Maybe(Text()))
    ssl_truststore_certificates: str | None = secret_key(None, Maybe(Text()))

    def tls(self) -> TlsSettings | None:
        """None where it is not spoken."""
        if not self.security_protocol.has_tls:
            return None
        return TlsSettings(
            self._key_store(),
            self._trust_store(),
            enabled_protocols=self.ssl_enabled_protocols,
            cipher_suites=self.ssl_cipher_suites or (),
            checks_host=bool(self.ssl_endpoint_identification_algorithm),
        )

    def login(self) -> Login | None:
        """None where nobody is to say who he is. Raises SettingsError."""
        if not self.security_protocol.has_sasl:
            return None
        if self.sasl_mechanism == OAUTHBEARER and self.sasl_login_callback_handler_class:
            return TokenLogin(self.sasl_login_callback_handler_class)
        return _login(self.sasl_mechanism, self.sasl_jaas_config)

    def _key_store(self) -> KeyStore | None:
        given = (
            self.ssl_keystore_location,
            self.ssl_keystore_key,
            self.ssl_keystore_certificate_chain,
        )
        if not any(given):
            return None
        return KeyStore(
            self.ssl_keystore_type,
            location=self.ssl_keystore_location,
            password=self.ssl_keystore_password,
            key_password=self.ssl_key_password,
            certificate_chain=self.ssl_keystore_certificate_chain,
            key=self.ssl_keystore_key,
        )

    def _trust_store(self) -> TrustStore:
        return TrustStore(
            self.ssl_truststore_type,
            location=self.ssl_truststore_location,
            password=self.ssl_truststore_password,
            certificates=self.ssl_truststore_certificates,
        )


def settle_security(given: Mapping[str, Any]) -> None:
    """What is needed to log in has to be there. Raises SettingsError."""
    SecurityConfig(**{name: given[name] for name in _NAMES if name in given}).login()


_NAMES = tuple(SecurityConfig.__dataclass_fields__)


def _login(mechanism: str, text: str | None) -> Login:
    if mechanism not in LOGIN_MODULES:
        spoken = ", ".join(LOGIN_MODULES)
        raise SettingsError(f"sasl.mechanism={mechanism} is not spoken here: {spoken} are")
    if text is None:
        raise SettingsError(f"sasl.jaas.config is not set: {_wanted(mechanism)}")
    try:
        return login_of(mechanism, login_module_of(mechanism, text))
    except JaasError as error:
        why = f"{error}; {_wanted(mechanism)}"
        raise SettingsError(f"sasl.jaas.config cannot be used: {why}") from None


def _wanted(mechanism: str) -> str:
    """The whole of it, with the places of what is secret."""
    options = 'sub="..."' if mechanism == OAUTHBEARER else 'username="..." password="..."'
    return f"{mechanism} needs '{LOGIN_MODULES[mechanism]} required {options};'"
